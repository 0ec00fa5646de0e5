// The module of the threads that compute a state root.
import { workerData } from 'node:worker_threads'
import { serveJobs } from '@ledger-state/core/threads'
import { buffersOf, createRootWork, type RootJob } from './root-job.js'

const work = createRootWork(workerData as string, { isBulk: true })

serveJobs((job: RootJob) => work.run(job), { transferOf: buffersOf })
