import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { type ComputeTask, runComputeTask } from '@ledger-state/move-vm'
import type { ComputeReply } from './compute-worker.js'

/** Runs tasks of natives in a separate thread, so that a pairing (17 to 42 ms) keeps no request waiting. */
export interface ComputeThread {
  /**
   * Does a task. Tasks are done one after the other; a thread that ends leaves those that it has to this one.
   * @throws `RangeError` of a task that no native asks for
   */
  run(task: ComputeTask): Promise<readonly Uint8Array[]>
  /** Ends the thread. Tasks that come later are done where they are asked for. */
  close(): Promise<void>
}

interface PendingTask {
  readonly task: ComputeTask
  resolve(result: readonly Uint8Array[]): void
  reject(error: unknown): void
}

/** The thread runs sources where this module is one: `Worker` passes on the options of the process that loads them. */
const isSource = import.meta.url.endsWith('.ts')
const WORKER_FILE = new URL(isSource ? './compute-worker.ts' : './compute-worker.js', import.meta.url)

/** A thread that begins with the first task. A bundle that lacks the thread's file does the tasks at once. */
export function createComputeThread(): ComputeThread {
  const hasThread = existsSync(fileURLToPath(WORKER_FILE))
  /** The thread replies in the order of the tasks. */
  const pending: PendingTask[] = []
  let worker: Worker | undefined
  let isClosed = false

  function start(): Worker {
    const started = new Worker(WORKER_FILE)
    started.on('message', (reply: ComputeReply) => {
      settle(pending.shift()!, reply)
      // An idle thread keeps no process alive.
      if (pending.length === 0) started.unref()
    })
    // What the error was is of no use to anybody: the tasks are done here, and a thread begins again with the next.
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
        if (!hasThread || isClosed) {
          settle(one, replyHere(task))
          return
        }
        pending.push(one)
        worker ??= start()
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

/** A view of a larger buffer would be sent with all of it. */
function ownBytes({ name, inputs }: ComputeTask): ComputeTask {
  return { name, inputs: inputs.map((bytes) => bytes.slice()) }
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
