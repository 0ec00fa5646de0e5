import { RequestThread, type ThreadOptions } from './request-thread.js'

/**
 * A thread that starts with its first job, and again with the next job if it ended by itself. Jobs are sent at once, so
 * that the thread has a next job while the caller is busy.
 */
export class JobThread<Job, Result> {
  readonly #module: URL
  readonly #options: ThreadOptions
  #thread: RequestThread<Job, Result> | undefined
  #isClosed = false

  constructor(module: URL, options: ThreadOptions) {
    this.#module = module
    this.#options = options
  }

  /** Number of jobs that are not answered yet. */
  get load(): number {
    return this.#thread?.load ?? 0
  }

  /**
   * Runs a job.
   * @param transfer buffers of the job that are transferred
   * @throws as `RequestThread.ask`; the error of `toEnd` also once it is closed
   */
  async run(job: Job, transfer: readonly ArrayBuffer[] = []): Promise<Result> {
    if (this.#isClosed) throw this.#options.toEnd(undefined)
    if (!this.#thread?.isRunning) this.#thread = new RequestThread(this.#module, this.#options)
    return this.#thread.ask(job, transfer)
  }

  /** Ends the thread at once. Jobs that it has fail. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#thread?.terminate()
  }
}

/** The thread with the fewest jobs, or the first of several such. There must be one thread at least. */
export function idlest<Job, Result>(threads: readonly JobThread<Job, Result>[]): JobThread<Job, Result> {
  return threads.reduce((least, thread) => (thread.load < least.load ? thread : least))
}
