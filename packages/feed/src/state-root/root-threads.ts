import { availableParallelism } from 'node:os'
import { idlest, type JobThread, threadModule } from '@ledger-state/core/threads'
import { createJobThread } from '../threads/create-job-thread.js'
import { createRootWork, type RootJob, type RootResult, type RootWork } from './root-job.js'

/** Jobs that wait in each thread, so that it has a next job while the caller is busy. */
const AHEAD = 2

const ROOT_WORKER = threadModule('root-worker', import.meta.url)

/** Runs jobs of a state root in threads. The caller awaits `ready` before each job, which bounds the jobs under way. */
export class RootThreads {
  readonly #threads: JobThread<RootJob, RootResult>[]
  readonly #local: RootWork | undefined
  #waiting: (() => void)[] = []

  /**
   * @param count number of threads, by default the number of cores. With 0, and in a bundle that lacks the thread's
   * module, jobs run in this thread.
   */
  constructor(salt: string, count: number | undefined) {
    const cores = availableParallelism()
    const threads = count ?? (cores > 1 ? cores : 0)
    this.#threads = ROOT_WORKER
      ? Array.from({ length: threads }, () => createJobThread<RootJob, RootResult>(ROOT_WORKER, salt))
      : []
    this.#local = this.#threads.length === 0 ? createRootWork(salt) : undefined
  }

  /** Resolves when a thread can take a job. */
  async ready(): Promise<void> {
    while (!this.#local && idlest(this.#threads).load >= AHEAD) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /**
   * Runs a job, and transfers its bytes.
   * @throws `verification_failed`; `source_failed` if the thread ended
   */
  async run(job: RootJob): Promise<RootResult> {
    if (this.#local) return this.#local.run(job)
    const bytes =
      job.kind === 'keys'
        ? [job.before.lists, job.named]
        : job.kind === 'replay'
          ? [job.writes]
          : 'batch' in job
            ? [job.batch]
            : [job.leaves]
    try {
      return await idlest(this.#threads).run(
        job,
        bytes.map(({ buffer }) => buffer as ArrayBuffer),
      )
    } finally {
      for (const resolve of this.#waiting.splice(0)) resolve()
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()))
  }
}
