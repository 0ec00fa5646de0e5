import { isMainThread } from 'node:worker_threads'
import { RequestThread, threadModule } from '@ledger-state/core/threads'
import { storeFailed } from '@ledger-state/engine/authoring'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { SegmentRow } from '../records/segment-rows.js'
import type { WalReaderOptions } from '../wal/reader.js'
import { type ProgressMemory, SharedProgress } from './shared-progress.js'
import type { FileFacts } from './write-segments.js'

/** Asks for segment files, with numbers that begin here, of the commits of a sealed WAL file. */
export interface FlushRequest {
  readonly walFile: Pick<WalReaderOptions, 'fileNumber' | 'firstCommit' | 'blockBefore' | 'logEnd'>
  readonly segmentFile: number
}

export interface CompactionThreadData extends Pick<LmdbStore, 'storeId'> {
  readonly facts: FileFacts
  /** Bytes of the segment that are written into files. */
  readonly flushed: ProgressMemory
}

/**
 * Starts the thread. Undefined if its work stays on the event loop: in a worker thread, which its owner
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
 * The thread that writes large parts of the memtable into files. It reads the sealed WAL file by itself. Its heap may grow as
 * large as that of the main thread; a segment and its index are outside of the heap.
 */
export class CompactionThread {
  readonly #thread: RequestThread<FlushRequest, readonly SegmentRow[]>
  /** Work on the segments that are written into files. */
  readonly flushed = new SharedProgress()

  constructor(module: URL, { path, segmentsId, storeId, durability }: LmdbStore) {
    const facts: FileFacts = { path, segmentsId, durability }
    const workerData: CompactionThreadData = { facts, storeId, flushed: this.flushed.memory }
    this.#thread = new RequestThread(module, {
      workerData,
      toCrash: threadFailed,
      toEnd: (cause) =>
        cause === undefined ? storeFailed('the thread of merges has ended', undefined) : threadFailed(cause),
    })
  }

  /** Whether the thread accepts requests. */
  get isRunning(): boolean {
    return this.#thread.isRunning
  }

  /**
   * Writes what a sealed WAL file has into segment files. Resolves with their rows, which no transaction has yet.
   * @throws the error of the work; `store_failed` if the thread has ended, or was closed
   */
  async flush(request: FlushRequest): Promise<readonly SegmentRow[]> {
    return await this.#thread.ask(request)
  }

  /** Ends the thread after all requests so far. Resolves when it has ended. */
  async close(): Promise<void> {
    await this.#thread.close()
  }
}

function threadFailed(cause: unknown) {
  return storeFailed(`a thread of the store failed: ${String(cause)}`, cause)
}
