import { Worker, type WorkerOptions } from 'node:worker_threads'
import { LedgerStateError } from '../error.js'
import type { ThreadMessage, ThreadReply } from './protocol.js'

/** How a thread starts, and which errors its requests get when it fails. */
export interface ThreadOptions {
  /** Data that the thread reads as `workerData`. */
  readonly workerData?: unknown
  /** Node.js options of the thread; by default the options of the process. */
  readonly execArgv?: readonly string[]
  /** Limits of the memory of the thread; by default the limits of Node.js. */
  readonly resourceLimits?: { readonly maxYoungGenerationSizeMb: number }
  /** Converts an error of the work on a request that is no `LedgerStateError` into an error of the caller. */
  readonly toCrash: (thrown: unknown) => unknown
  /**
   * Error of a request that the thread did not answer, because it ended or was closed.
   * @param cause the error that ended it; undefined if there was none
   */
  readonly toEnd: (cause: unknown) => unknown
}

interface Waiting<Result> {
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * A thread that answers requests by `serveRequests` or `serveJobs`. Each request gets the reply with its number, or an
 * error when the thread ends. The thread keeps the process alive only while a request is under way, or it is closing.
 */
export class RequestThread<Request, Result> {
  readonly #worker: Worker
  readonly #options: ThreadOptions
  readonly #waiting = new Map<number, Waiting<Result>>()
  readonly #ended: Promise<void>
  #lastNumber = 0
  /** Whether the thread has ended, or is closing. */
  #isClosed = false
  #cause: unknown

  constructor(module: URL, options: ThreadOptions) {
    const { workerData, execArgv, resourceLimits } = options
    this.#options = options
    this.#worker = startWorker(module, {
      workerData,
      ...(execArgv && { execArgv: [...execArgv] }),
      ...(resourceLimits && { resourceLimits }),
    })
    this.#worker.unref()
    this.#worker.on('message', (reply: ThreadReply<Result>) => this.#settle(reply))
    this.#worker.on('messageerror', (error) => {
      this.#cause = error
      void this.#worker.terminate()
    })
    this.#worker.on('error', (error) => {
      this.#cause = error
    })
    this.#ended = new Promise((resolve) => this.#worker.once('exit', () => resolve(this.#end())))
  }

  /** Whether the thread accepts requests. */
  get isRunning(): boolean {
    return !this.#isClosed
  }

  /** Number of requests that are not answered yet. */
  get load(): number {
    return this.#waiting.size
  }

  /**
   * Sends a request, and resolves with its result.
   * @param transfer buffers of the request that are transferred
   * @throws the `LedgerStateError` of the work, or the error of `toCrash` or `toEnd`
   */
  ask(request: Request, transfer: readonly ArrayBuffer[] = []): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        reject(this.#options.toEnd(undefined))
        return
      }
      const number = ++this.#lastNumber
      this.#worker.postMessage({ number, request } satisfies ThreadMessage<Request>, transfer)
      this.#waiting.set(number, { resolve, reject })
      this.#worker.ref()
    })
  }

  /** Ends the thread after all requests so far. Resolves when it has ended. */
  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true
      this.#worker.ref()
      this.#worker.postMessage(undefined satisfies ThreadMessage<Request>)
    }
    await this.#ended
  }

  /** Ends the thread at once. Resolves when it has ended. */
  async terminate(): Promise<void> {
    this.#isClosed = true
    this.#worker.ref()
    await this.#worker.terminate()
    await this.#ended
  }

  #settle(reply: ThreadReply<Result>): void {
    const waiting = this.#waiting.get(reply.number)
    if (!waiting) return
    this.#waiting.delete(reply.number)
    if (!this.#isClosed && this.#waiting.size === 0) this.#worker.unref()
    if ('result' in reply) waiting.resolve(reply.result)
    else if ('crash' in reply) waiting.reject(this.#options.toCrash(reply.crash))
    else waiting.reject(new LedgerStateError(reply.failure.code, reply.failure.message, reply.failure.fields))
  }

  #end(): void {
    this.#isClosed = true
    for (const { reject } of this.#waiting.values()) reject(this.#options.toEnd(this.#cause))
    this.#waiting.clear()
  }
}

/**
 * Starts a thread. Under `--input-type`, which threads inherit, Node.js refuses a module that is a file, but runs a text
 * that imports it.
 */
function startWorker(module: URL, options: WorkerOptions): Worker {
  const words = [...(options.execArgv ?? process.execArgv), process.env.NODE_OPTIONS ?? '']
  if (!words.some((word) => word.includes('--input-type'))) return new Worker(module, options)
  return new Worker(`import(${JSON.stringify(module.href)})`, { ...options, eval: true })
}
