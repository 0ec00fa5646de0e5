import { JobThread } from '@ledger-state/core/threads'
import { sourceFailed } from '../errors.js'

/**
 * Creates a thread that proves or hashes. Its jobs fail with `source_failed` if it ends by itself or is closed, and with
 * the error that ended it, if there was one.
 * @param salt data that the thread reads as `workerData`
 */
export function createJobThread<Job, Result>(module: URL, salt: string): JobThread<Job, Result> {
  return new JobThread(module, {
    workerData: salt,
    toCrash: (thrown) => thrown,
    toEnd: (cause) => cause ?? sourceFailed.proverEnded(),
  })
}
