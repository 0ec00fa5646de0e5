// The module of the threads that compute a state root.
import { parentPort, workerData } from 'node:worker_threads'
import { isLedgerStateError } from '@ledger-state/core'
import { LedgerHasher } from '../proof/ledger-hasher.js'
import { type RootJob, type RootReply, runRootJob } from './root-job.js'

const hasher = new LedgerHasher(workerData as string)

parentPort!.on('message', (job: RootJob) => {
  let reply: RootReply
  try {
    reply = { result: runRootJob(job, hasher) }
  } catch (error) {
    if (isLedgerStateError(error)) {
      const { code, message, fields } = error
      reply = { failure: { code, message, fields } }
    } else reply = { crash: error }
  }
  const leaves = 'result' in reply && reply.result instanceof Uint8Array ? [reply.result.buffer] : []
  parentPort!.postMessage(reply, leaves)
})
