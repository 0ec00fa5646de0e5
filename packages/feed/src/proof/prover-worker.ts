// The module of the thread that proves.
import { parentPort, workerData } from 'node:worker_threads'
import { isLedgerStateError } from '@ledger-state/core'
import { LedgerHasher } from './ledger-hasher.js'
import { type ProofJob, type ProofReply, runProofJob } from './proof-job.js'

const hasher = new LedgerHasher(workerData as string)

async function answer(job: ProofJob): Promise<ProofReply> {
  try {
    return { result: await runProofJob(job, hasher) }
  } catch (error) {
    if (!isLedgerStateError(error)) return { crash: error }
    const { code, message, fields } = error
    return { failure: { code, message, fields } }
  }
}

let turn = Promise.resolve()
parentPort!.on('message', (job: ProofJob) => {
  turn = turn.then(async () => parentPort!.postMessage(await answer(job)))
})
