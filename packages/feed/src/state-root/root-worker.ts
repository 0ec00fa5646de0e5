// The module of the threads that compute a state root.
import { workerData } from 'node:worker_threads'
import { serveJobs } from '@ledger-state/core/threads'
import { LedgerHasher } from '@ledger-state/proof'
import { buffersOf, type RootJob, runRootJob } from './root-job.js'

const hasher = new LedgerHasher(workerData as string)

serveJobs((job: RootJob) => runRootJob(job, hasher), { transferOf: buffersOf })
