import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { LedgerStateError } from '@ledger-state/core'
import { sourceFailed } from '../errors.js'
import type { JobReply } from './serve-jobs.js'

interface PendingJob<Result> {
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * The module of a thread; a TypeScript file if this module is one, as `Worker` passes on the options of the process
 * that loads it.
 * @param name of the file without its ending, in the folder of `importer`
 * @param importer URL of the module that loads it; undefined in a bundle of CommonJS, where modules have none
 * @returns undefined in a bundle that lacks the file
 */
export function threadModule(name: string, importer: string | undefined): URL | undefined {
  if (!importer?.startsWith('file:')) return undefined
  const file = new URL(`./${name}${importer.endsWith('.ts') ? '.ts' : '.js'}`, importer)
  return existsSync(fileURLToPath(file)) ? file : undefined
}

/**
 * A thread that runs jobs one after the other. Jobs are sent at once and wait in the thread, so that it has a next job
 * while the caller is busy. It starts with its first job. If it ends by itself, the next job starts it again.
 */
export class JobThread<Job, Result> {
  readonly #module: URL
  readonly #data: unknown
  #worker: Worker | undefined
  /** Jobs without a reply. The thread replies in their order. */
  readonly #pending: PendingJob<Result>[] = []
  #isClosed = false

  /** @param data data that `serveJobs` reads in the thread as `workerData` */
  constructor(module: URL, data: unknown) {
    this.#module = module
    this.#data = data
  }

  /** Number of jobs that are not answered yet. */
  get load(): number {
    return this.#pending.length
  }

  /**
   * Runs a job.
   * @param transfer buffers of the job that are transferred
   * @throws `source_failed` if the thread ended; the errors of the job
   */
  run(job: Job, transfer: readonly ArrayBuffer[] = []): Promise<Result> {
    if (this.#isClosed) return Promise.reject(sourceFailed.proverEnded())
    this.#worker ??= this.#start()
    this.#worker.ref()
    this.#worker.postMessage(job, transfer)
    return new Promise((resolve, reject) => this.#pending.push({ resolve, reject }))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(this.#module, { workerData: this.#data })
    worker.on('message', (reply: JobReply<Result>) => {
      settle(this.#pending.shift()!, reply)
      // An idle thread does not keep the process alive. A thread that is closing does, until it has ended.
      if (this.#pending.length === 0 && !this.#isClosed) worker.unref()
    })
    worker.on('error', (error) => this.#fail(error))
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
      this.#fail(sourceFailed.proverEnded())
    })
    return worker
  }

  #fail(error: unknown): void {
    for (const { reject } of this.#pending.splice(0)) reject(error)
  }
}

/** The thread with the fewest jobs, or the first of several such. There must be one thread at least. */
export function idlest<Job, Result>(threads: readonly JobThread<Job, Result>[]): JobThread<Job, Result> {
  return threads.reduce((least, thread) => (thread.load < least.load ? thread : least))
}

function settle<Result>({ resolve, reject }: PendingJob<Result>, reply: JobReply<Result>): void {
  if ('result' in reply) resolve(reply.result)
  else if ('crash' in reply) reject(reply.crash)
  else reject(new LedgerStateError(reply.failure.code, reply.failure.message, reply.failure.fields))
}
