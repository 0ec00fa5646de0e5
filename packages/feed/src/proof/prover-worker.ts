// The module of the thread that proves.
import { workerData } from 'node:worker_threads'
import { serveJobs } from '@ledger-state/core/threads'
import { LedgerHasher } from '@ledger-state/proof'
import { type ProofJob, runProofJob } from './proof-job.js'

const hasher = new LedgerHasher(workerData as string, { isBulk: true })

serveJobs((job: ProofJob) => runProofJob(job, hasher))
