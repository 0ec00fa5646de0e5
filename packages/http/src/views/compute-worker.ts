// The thread of `createComputeThread`. It does one task after the other, in the order in which they come.
import { parentPort } from 'node:worker_threads'
import { type ComputeTask, runComputeTask } from '@ledger-state/move-vm'

/** Reply of the thread to a task. */
export type ComputeReply = { readonly result: readonly Uint8Array[] } | { readonly failure: string }

parentPort!.on('message', (task: ComputeTask) => {
  parentPort!.postMessage(replyTo(task))
})

function replyTo(task: ComputeTask): ComputeReply {
  try {
    return { result: runComputeTask(task) }
  } catch (error) {
    return { failure: String(error) }
  }
}
