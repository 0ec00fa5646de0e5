import { isMainThread } from 'node:worker_threads'
import { RequestThread, threadModule } from '@ledger-state/core/threads'
import { type BlockEntry, storeFailed } from '@ledger-state/engine/authoring'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { SegmentRow } from '../records/segment-rows.js'
import type { PruneStep } from './prune-store.js'
import { type ProgressMemory, SharedProgress } from './shared-progress.js'
import { type GateMemory, OwnerGate } from './thread-gate.js'

/** Requests to the thread. Steps of a merge are asked for one after the other. */
export type ThreadRequest =
  /** Reads the sealed file that is merged next. */
  | { readonly kind: 'begin'; readonly fileNumber: number }
  /** Reads ahead what the next transaction of the merge will change. */
  | { readonly kind: 'prepare' }
  /** Runs a transaction of the merge. */
  | { readonly kind: 'transact' }
  /** Writes the sealed file into segment files from this number on. */
  | { readonly kind: 'flush'; readonly fileNumber: number; readonly segmentFile: number }
  /** Runs a transaction of a prune. */
  | { readonly kind: 'prune'; readonly oldest: BlockEntry | undefined; readonly maxEntries: number }

type Kind = ThreadRequest['kind']
export type RequestOf<K extends Kind> = Extract<ThreadRequest, { readonly kind: K }>

export interface MergeProgress {
  readonly isMerged: boolean
  /** Share of the segment that is merged. */
  readonly progress: number
}

interface Results {
  readonly begin: undefined
  readonly prepare: undefined
  readonly transact: MergeProgress
  readonly flush: readonly SegmentRow[]
  readonly prune: PruneStep
}

type Result = Results[Kind]

export interface CompactionThreadData extends Pick<LmdbStore, 'path' | 'compressHistory' | 'durability'> {
  readonly mapBytes: number
  readonly memory: GateMemory
  /** Bytes of the segment that are written into files. */
  readonly flushed: ProgressMemory
}

/**
 * Starts the thread of merges and prunes. Undefined if they stay on the event loop: in a worker thread, which its owner
 * may end at any moment, and in some bundles.
 */
export function startCompactionThread(store: LmdbStore): CompactionThread | undefined {
  const module = isMainThread ? threadModule('compaction-thread', import.meta.url) : undefined
  try {
    return module && new CompactionThread(module, store)
  } catch {
    // The process may not be allowed to start threads, or not with its own options.
    return undefined
  }
}

/**
 * The thread that merges large segments, and prunes once it runs. It reads the sealed file by itself, and begins a
 * transaction only when it is asked to, so the event loop never waits for LMDB's lock. Nothing ends it within a
 * transaction (`OwnerGate`). Its heap may grow as large as that of the main thread; a segment and its index are outside
 * of the heap.
 */
export class CompactionThread {
  readonly #thread: RequestThread<ThreadRequest, Result>
  readonly #gate = new OwnerGate()
  /** Work on the segments that are written into files. */
  readonly flushed = new SharedProgress()

  constructor(module: URL, { path, compressHistory, durability, root }: LmdbStore) {
    const { mapSize: mapBytes } = root.getStats()
    const memory = this.#gate.memory
    const flushed = this.flushed.memory
    const workerData: CompactionThreadData = { path, compressHistory, durability, mapBytes, memory, flushed }
    this.#thread = new RequestThread(module, {
      workerData,
      toCrash: threadFailed,
      toEnd: (cause) =>
        cause === undefined ? storeFailed('the thread of merges and prunes has ended', undefined) : threadFailed(cause),
      onExit: () => this.#gate.forget(),
    })
    this.#gate.watch()
  }

  /** Whether the thread accepts requests. */
  get isRunning(): boolean {
    return this.#thread.isRunning
  }

  setWanted(isWanted: boolean): void {
    this.#gate.setWanted(isWanted)
  }

  /**
   * Sends a request to the thread, and resolves with its result. Steps of a prune may be asked for while the next
   * transaction of a merge is prepared.
   * @throws the error of the work; `store_failed` if the thread has ended, or was closed
   */
  async ask<K extends Kind>(request: RequestOf<K>): Promise<Results[K]> {
    return (await this.#thread.ask(request)) as Results[K]
  }

  /** Ends the thread after all requests so far. Resolves when it has ended. */
  async close(): Promise<void> {
    await this.#thread.close()
  }
}

function threadFailed(cause: unknown) {
  return storeFailed(`a thread of the store failed: ${String(cause)}`, cause)
}
