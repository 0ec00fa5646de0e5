import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { copyBytes } from '@ledger-state/core/bytes'
import { type ComputeTask, runComputeTask } from '@ledger-state/move-vm'
import type { ComputeReply } from './compute-worker.js'

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

interface PendingTask {
  readonly task: ComputeTask
  resolve(result: readonly Uint8Array[]): void
  reject(error: unknown): void
}

/**
 * The file of the thread: a TypeScript source if this module is one, as `Worker` passes on the options of the process.
 * Undefined in a bundle that lacks the file. In one of CommonJS, modules have no URL.
 */
function workerFile(): URL | undefined {
  const importer: string | undefined = import.meta.url
  if (!importer?.startsWith('file:')) return undefined
  const file = new URL(`./compute-worker.${importer.endsWith('.ts') ? 'ts' : 'js'}`, importer)
  return existsSync(fileURLToPath(file)) ? file : undefined
}

/**
 * Creates a thread, which starts with the first task. In a bundle that lacks the thread's file, tasks are done at once.
 */
export function createComputeThread(): ComputeThread {
  const file = workerFile()
  /** Tasks without a reply. The thread replies in their order. */
  const pending: PendingTask[] = []
  let worker: Worker | undefined
  let isClosed = false

  function start(file: URL): Worker {
    const started = new Worker(file)
    started.on('message', (reply: ComputeReply) => {
      settle(pending.shift()!, reply)
      // An idle thread does not keep the process alive.
      if (pending.length === 0) started.unref()
    })
    // The error itself does not matter: the tasks are done here, and the next one starts a thread again.
    started.on('error', () => {})
    started.on('exit', () => {
      if (worker === started) worker = undefined
      for (const left of pending.splice(0)) settle(left, replyHere(left.task))
    })
    return started
  }

  return {
    run(task) {
      return new Promise((resolve, reject) => {
        const one = { task, resolve, reject }
        if (!file || isClosed) {
          settle(one, replyHere(task))
          return
        }
        pending.push(one)
        worker ??= start(file)
        worker.ref()
        worker.postMessage(ownBytes(task))
      })
    },
    async close() {
      isClosed = true
      await worker?.terminate()
    },
  }
}

/** A task whose bytes are copies. A view of a larger buffer would be sent with the whole buffer. */
function ownBytes({ name, inputs }: ComputeTask): ComputeTask {
  return { name, inputs: inputs.map((bytes) => copyBytes(bytes)) }
}

function replyHere(task: ComputeTask): ComputeReply {
  try {
    return { result: runComputeTask(task) }
  } catch (error) {
    return { failure: String(error) }
  }
}

function settle({ resolve, reject }: PendingTask, reply: ComputeReply): void {
  if ('result' in reply) resolve(reply.result)
  else reject(new RangeError(reply.failure))
}
