import { copyBytes } from '@ledger-state/core/bytes'
import { JobThread, threadModule } from '@ledger-state/core/threads'
import { type ComputeTask, runComputeTask } from '@ledger-state/move-vm'

/** Runs tasks of natives in a separate thread, so that a pairing (17 to 42 ms) does not hold up requests. */
export interface ComputeThread {
  /**
   * Does a task. Tasks are done one after the other. If the thread ends, this thread does the tasks that it had.
   * @throws `RangeError` for a task that no native asks for
   */
  run(task: ComputeTask): Promise<readonly Uint8Array[]>
  /** Ends the thread. Later tasks are done in the calling thread. */
  close(): Promise<void>
}

/** Error of a task that the thread did not do. */
const NOT_DONE = new Error('the thread has ended')

/**
 * Creates a thread, which starts with the first task. In a bundle that lacks the thread's file, tasks are done at once.
 * @param module the module of the thread
 */
export function createComputeThread(module = threadModule('compute-worker', import.meta.url)): ComputeThread {
  const thread =
    module &&
    new JobThread<ComputeTask, readonly Uint8Array[]>(module, {
      toCrash: (thrown) => new RangeError(String(thrown)),
      toEnd: () => NOT_DONE,
    })
  return {
    async run(task) {
      try {
        if (thread) return await thread.run(ownBytes(task))
      } catch (error) {
        if (error !== NOT_DONE) throw error
      }
      return runComputeTask(task)
    },
    async close() {
      await thread?.close()
    },
  }
}

/** A task with copied bytes. A view of a larger buffer would be sent with the whole buffer. */
function ownBytes({ name, inputs }: ComputeTask): ComputeTask {
  return { name, inputs: inputs.map((bytes) => copyBytes(bytes)) }
}
