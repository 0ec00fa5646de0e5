import { storeClosed } from '@ledger-state/engine/authoring'
import { freeBytes } from '../lmdb/free-bytes.js'
import { withStoreErrorsAsync } from '../lmdb/store-errors.js'
import type { Memtable } from '../memtable/memtable.js'
import type { Segment } from '../memtable/segment.js'
import type { SegmentRow } from '../records/segment-rows.js'
import { filesOfFlush, flushSegment, putFlushed } from './flush-segment.js'
import { LevelMerger, type LevelParts } from './level-merger.js'
import { createMergeThread, type FlushThread } from './merge-threads.js'
import { runInTurns } from './run-in-turns.js'
import { SharedProgress } from './shared-progress.js'
import { syncSegments, unsyncedFiles } from './write-segments.js'

/** Size of the smallest segment that a thread writes: smaller ones take few steps on the event loop. */
const LEAST_THREAD_BYTES = 2 ** 20
/** Size of the largest one: the thread has a copy of it. Larger ones are written on the event loop. */
const MOST_THREAD_BYTES = 2 ** 28
/**
 * Share of the next segment that commits may be ahead of the work on the sealed one, so that the first of them do not wait for
 * the copy of the segment and the start of the thread.
 */
const FREE_SHARE = 0.25
/** Share of the next segment that commits fill while the files are synced and become a part of the store. */
const END_SHARE = 0.1
/** Share of the work after which commits wait only for the end of all of it: estimated shares do not add up to 1. */
const MOST_DUE = 0.97

export interface MergeParts extends Omit<LevelParts, 'freeBytes'> {
  readonly memtable: Memtable
  /** Called when the segments of all WAL files below a number are in segment files. */
  onMerged(fileNumber: number): Promise<void>
}

/** Writes sealed segments of the memtable into files, the oldest first, while the process does other work. */
export class MergeScheduler {
  readonly #parts: MergeParts
  /** Merges of the files that this one writes. */
  readonly levels: LevelMerger
  readonly #flushed = new SharedProgress()
  readonly #thread: FlushThread | undefined
  #running: Promise<void> | undefined
  /** Memory of the copy of a segment that the thread has written. */
  #spare: ArrayBuffer | undefined
  #isStopped = false
  /** Share of the work on the oldest segment that is done. */
  #progress = 0
  readonly #waiting: (() => void)[] = []

  constructor(parts: MergeParts) {
    this.#parts = parts
    this.levels = new LevelMerger({ ...parts, freeBytes })
    this.#thread = createMergeThread('compaction-thread', parts.store, this.#flushed)
  }

  /** Begins to merge, unless a merge is under way or there is nothing to merge. */
  start(): void {
    void this.#start().catch(() => {})
  }

  /**
   * Resolves when no sealed segment is left. It tries again after a merge that failed.
   * @throws the error of the merge
   */
  async settled(): Promise<void> {
    await this.#start()
  }

  /**
   * Resolves when the merge has done the share of its work that is due once `filledShare` of the next segment is
   * filled, or when no merge is under way. Commits that call it never have to wait for a whole merge.
   */
  async keepPace(filledShare: number): Promise<void> {
    while (this.isBehind(filledShare)) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Whether `keepPace` would wait. */
  isBehind(filledShare: number): boolean {
    const due = (filledShare - FREE_SHARE) / (1 - FREE_SHARE - END_SHARE)
    return this.#running !== undefined && this.#progress < Math.min(MOST_DUE, due)
  }

  /** Stops merging. Resolves when the transaction under way is over. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.levels.stop()
    await this.#running?.catch(() => {})
    await this.#thread?.close()
  }

  #start(): Promise<void> {
    this.#running ??= this.#mergeSealed().finally(() => {
      this.#running = undefined
      this.#wake()
    })
    return this.#running
  }

  /** Notes the share of the work that is done. */
  #advance(progress: number): void {
    this.#progress = progress
    this.#wake()
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  async #mergeSealed(): Promise<void> {
    const { memtable } = this.#parts
    while (memtable.segments.length > 1 && !this.#isStopped) await this.#flush(memtable.segments[0]!)
  }

  /** Writes a segment into files. */
  async #flush(segment: Segment): Promise<void> {
    const { store, builder, numbers, obsolete, transact, onMerged } = this.#parts
    const { fileNumber } = segment
    this.#progress = 0
    const rows = await this.#writeFiles(segment, numbers.take(filesOfFlush(segment)))
    if (this.#isStopped) {
      await obsolete.remove(rows.map(({ file }) => file))
      return
    }
    // If the transaction fails, the files stay: it may be on disk anyway. The next writer removes files that no row
    // names.
    await transact(() => {
      putFlushed(store, builder, segment, rows, fileNumber + 1)
      return true
    })
    await onMerged(fileNumber + 1)
    this.levels.start()
  }

  async #writeFiles(segment: Segment, file: number): Promise<readonly SegmentRow[]> {
    const { length } = segment
    if (this.#thread && length >= LEAST_THREAD_BYTES && length <= MOST_THREAD_BYTES) {
      const ended = this.#follow(length)
      try {
        return await this.#writeInThread(this.#thread, segment, file)
      } catch {
        // The thread may not have started, or may have ended. An error of the disk shows again.
      } finally {
        ended()
      }
    }
    const { store } = this.#parts
    const steps = flushSegment(unsyncedFiles(store), segment, file)
    const onStep = (share: number) => {
      if (this.#isStopped) throw storeClosed()
      this.#advance(share)
    }
    const rows = await withStoreErrorsAsync(store.path, () => runInTurns(steps, onStep))
    await syncSegments(store, rows)
    return rows
  }

  /** The thread writes a copy, because this thread still reads the segment. */
  async #writeInThread(thread: FlushThread, segment: Segment, file: number): Promise<readonly SegmentRow[]> {
    const spare = this.#spare
    this.#spare = undefined
    const copy = await runInTurns(segment.copyInSteps(spare))
    const { rows, memory } = await thread.run({ copy, file }, [copy.memory])
    this.#spare = memory
    return rows
  }

  /** Follows the progress of the thread with a segment of some bytes, until the returned function is called. */
  #follow(length: number): () => void {
    const start = this.#flushed.place
    let isEnded = false
    const follow = async () => {
      for (let place = start; !isEnded; place = this.#flushed.place) {
        await this.#flushed.left(place)
        this.#advance(this.#flushed.bytesSince(start) / length)
      }
    }
    void follow()
    return () => {
      isEnded = true
      this.#flushed.wake()
    }
  }
}
