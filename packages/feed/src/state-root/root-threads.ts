import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { LedgerStateError } from '@ledger-state/core'
import { proverEnded } from '../errors.js'
import { LedgerHasher } from '../proof/ledger-hasher.js'
import { type RootJob, type RootReply, type RootResult, runRootJob } from './root-job.js'

/** Jobs that wait in a thread, so that it has the next one while this thread is busy. */
const AHEAD = 2

const isSource = import.meta.url.endsWith('.ts')
const WORKER_FILE = new URL(isSource ? './root-worker.ts' : './root-worker.js', import.meta.url)

interface PendingJob {
  resolve(result: RootResult): void
  reject(error: unknown): void
}

/** Runs jobs of a state root in threads. A caller waits for `ready` before each, which bounds what is under way. */
export class RootThreads {
  readonly #threads: Thread[]
  readonly #local: LedgerHasher | undefined

  /** @param count threads; 0 computes in this one, as does a bundle that lacks the thread's file */
  constructor(salt: string, count: number) {
    const isLocal = count === 0 || !existsSync(fileURLToPath(WORKER_FILE))
    this.#local = isLocal ? new LedgerHasher(salt) : undefined
    this.#threads = isLocal ? [] : Array.from({ length: count }, () => new Thread(salt))
  }

  /** Resolves when a thread can take a job. */
  async ready(): Promise<void> {
    while (!this.#local && this.#idlest().load >= AHEAD) {
      await Promise.race(this.#threads.map((thread) => thread.next()))
    }
  }

  /** Runs a job, whose bytes are given away. @throws `verification_failed`; `source_failed` where the thread ended */
  async run(job: RootJob): Promise<RootResult> {
    return this.#local ? runRootJob(job, this.#local) : await this.#idlest().run(job)
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()))
  }

  #idlest(): Thread {
    return this.#threads.reduce((least, thread) => (thread.load < least.load ? thread : least))
  }
}

class Thread {
  readonly #worker: Worker
  /** The thread replies in the order of the jobs. */
  readonly #pending: PendingJob[] = []
  #waiting: (() => void)[] = []
  #failure: unknown

  constructor(salt: string) {
    this.#worker = new Worker(WORKER_FILE, { workerData: salt })
    this.#worker.on('message', (reply: RootReply) => {
      settle(this.#pending.shift()!, reply)
      this.#wake()
    })
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', () => this.#fail(proverEnded()))
  }

  get load(): number {
    return this.#failure ? 0 : this.#pending.length
  }

  /** Resolves with the next reply. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  run(job: RootJob): Promise<RootResult> {
    if (this.#failure) return Promise.reject(this.#failure)
    const bytes = job.kind === 'hash' ? job.batch : job.leaves
    this.#worker.postMessage(job, [bytes.buffer as ArrayBuffer])
    return new Promise((resolve, reject) => this.#pending.push({ resolve, reject }))
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }

  #fail(error: unknown): void {
    this.#failure ??= error
    for (const { reject } of this.#pending.splice(0)) reject(error)
    this.#wake()
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}

function settle({ resolve, reject }: PendingJob, reply: RootReply): void {
  if ('result' in reply) resolve(reply.result)
  else if ('crash' in reply) reject(reply.crash)
  else reject(new LedgerStateError(reply.failure.code, reply.failure.message, reply.failure.fields))
}
