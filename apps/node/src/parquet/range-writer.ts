import { availableParallelism } from 'node:os'
import { idlest, JobThread, threadModule } from '@ledger-state/core/threads'
import type { StateReader } from '@ledger-state/engine'
import type { Ledger } from '@ledger-state/ledger'
import { exportFailed } from '../errors.js'
import { buffersOf } from './packed-writes.js'
import { type RangeFiles, type RangeJob, runRangeJob } from './range-job.js'

/** One thread that reads writes takes no more than four can encode. */
const MOST_THREADS = 4

/** MiB for new objects of a thread. By default they may take more, and the process takes 0.2 GB more on two cores. */
const YOUNG_MIB = 24

export interface RangeWriterOptions {
  readonly engine: StateReader
  readonly ledger: Ledger
  /** Folder of the store, for threads; without it all is done in this thread. */
  readonly store: string | undefined
  /** Number of threads; by default one for each core, and none on one core. */
  readonly threads?: number | undefined
  /** Options of Node.js for the threads; by default the options of the process. */
  readonly execArgv?: readonly string[] | undefined
}

/** Writes the files of ranges, several at the same time if there are cores for it. */
export class RangeWriter {
  readonly #options: RangeWriterOptions
  readonly #threads: readonly JobThread<RangeJob, RangeFiles>[]

  constructor(options: RangeWriterOptions) {
    const { store, execArgv, threads = defaultThreads() } = options
    const module = store === undefined ? undefined : threadModule('range-worker', import.meta.url)
    this.#options = options
    this.#threads = Array.from({ length: module ? threads : 0 }, () => {
      return new JobThread<RangeJob, RangeFiles>(module!, {
        workerData: { path: store },
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB },
        ...(execArgv && { execArgv }),
        toCrash: (thrown) => thrown,
        toEnd: (cause) => cause ?? exportFailed.threadEnded(),
      })
    })
  }

  /** Ranges that it can write at the same time. */
  get width(): number {
    return Math.max(1, this.#threads.length)
  }

  write(job: RangeJob): Promise<RangeFiles> {
    const { engine, ledger } = this.#options
    if (this.#threads.length === 0) return runRangeJob(engine, ledger, job)
    return idlest(this.#threads).run(job, buffersOf(job.writes))
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((one) => one.close()))
  }
}

function defaultThreads(): number {
  const cores = availableParallelism()
  return cores === 1 ? 0 : Math.min(cores, MOST_THREADS)
}
