import { parentPort } from 'node:worker_threads'
import { type ErrorFields, isLedgerStateError } from '@ledger-state/core'

/** Reply of a thread. A `LedgerStateError` is sent in parts, because a structured clone of it is a plain `Error`. */
export type JobReply<Result> =
  | { readonly result: Result }
  | { readonly failure: { readonly code: string; readonly message: string; readonly fields: ErrorFields } }
  | { readonly crash: unknown }

/**
 * Makes this thread answer the jobs of a `JobThread`, one after the other.
 * @param transferOf returns the buffers of a result that are transferred
 */
export function serveJobs<Job, Result>(
  run: (job: Job) => Result | Promise<Result>,
  transferOf: (result: Result) => readonly ArrayBuffer[] = () => [],
): void {
  const port = parentPort!
  let turn = Promise.resolve()
  port.on('message', (job: Job) => {
    turn = turn.then(async () => {
      const reply = await replyTo(job, run)
      port.postMessage(reply, 'result' in reply ? transferOf(reply.result) : [])
    })
  })
}

async function replyTo<Job, Result>(job: Job, run: (job: Job) => Result | Promise<Result>): Promise<JobReply<Result>> {
  try {
    return { result: await run(job) }
  } catch (error) {
    if (!isLedgerStateError(error)) return { crash: error }
    const { code, message, fields } = error
    return { failure: { code, message, fields } }
  }
}
