// The thread of `RangeWriter`. It reads the store for itself: types, and values before a range.
import { workerData } from 'node:worker_threads'
import { serveJobs } from '@ledger-state/core/threads'
import { createLedger } from '@ledger-state/ledger'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { type RangeJob, runRangeJob } from './range-job.js'

const engine = openStateEngineReader({ path: (workerData as { readonly path: string }).path, verifyReads: true })
const ledger = createLedger(engine)

serveJobs((job: RangeJob) => runRangeJob(engine, ledger, job))
