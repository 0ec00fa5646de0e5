import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RecordBuilder } from '../bytes/record.js'
import type { AtFailpoint } from '../failpoints/failpoints.js'
import { freeBytes } from '../lmdb/free-bytes.js'
import { type LmdbStore, withStoreErrorsAsync } from '../lmdb/lmdb-store.js'
import type { Memtable } from '../memtable/memtable.js'
import type { Segment } from '../memtable/segment.js'
import type { SegmentRow } from '../records/segment-rows.js'
import type { ObsoleteSegments } from '../segments/obsolete-segments.js'
import { filesOfFlush, flushSegment, putFlushed } from './flush-segment.js'
import { LevelMerger } from './level-merger.js'
import { createMergeThread, type FlushThread } from './merge-threads.js'
import type { SegmentNumbers } from './segment-numbers.js'
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

export interface MergeParts {
  readonly store: LmdbStore
  readonly builder: RecordBuilder
  readonly memtable: Memtable
  readonly numbers: SegmentNumbers
  readonly obsolete: ObsoleteSegments
  readonly atFailpoint: AtFailpoint
  readonly isPart: boolean
  /** Runs work in a write transaction. Returns its result. */
  transact(work: () => boolean): Promise<boolean>
  /** Called when the segments of all WAL files below a number are in segment files. */
  onMerged(fileNumber: number): Promise<void>
}

/** Writes sealed segments of the memtable into files, the oldest first, while the process does other work. */
export class MergeScheduler {
  readonly #parts: MergeParts
  readonly #levels: LevelMerger
  readonly #flushed = new SharedProgress()
  readonly #thread: FlushThread | undefined
  #running: Promise<void> | undefined
  /** Memory of the copy of a segment that the thread has written. */
  #spare: ArrayBuffer | undefined
  #isStopped = false
  /** Share of the work on the oldest segment that is done. */
  #progress = 0
  #waiting: (() => void)[] = []

  constructor(parts: MergeParts) {
    this.#parts = parts
    this.#levels = new LevelMerger({ ...parts, freeBytes })
    this.#thread = createMergeThread('compaction-thread', parts.store, this.#flushed)
  }

  /** Begins to merge, unless a merge is under way or there is nothing to merge. */
  start(): void {
    void this.#start().catch(ignore)
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

  /** Resolves when merges of segment files have done their part for commits of some bytes: see `LevelMerger`. */
  async keepPaceOfLevels(bytes: number): Promise<void> {
    await this.#levels.keepPace(bytes)
  }

  /** Whether `keepPaceOfLevels` would wait. */
  isBehindLevels(bytes: number): boolean {
    return this.#levels.isBehind(bytes)
  }

  /** Stops merging. Resolves when the transaction under way is over. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#levels.stop()
    await this.#running?.catch(ignore)
    await this.#thread?.close()
  }

  #start(): Promise<void> {
    this.#running ??= this.#mergeSealed().finally(() => {
      this.#running = undefined
      this.#wake()
    })
    return this.#running
  }

  /** Lets other work of the process take place. */
  async #pause(progress: number): Promise<void> {
    this.#progress = progress
    this.#wake()
    await nextTurn()
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  async #mergeSealed(): Promise<void> {
    while (this.#parts.memtable.segments.length > 1 && !this.#isStopped)
      await this.#flush(this.#parts.memtable.segments[0]!)
  }

  /** Begins to merge segment files if a level is full. */
  startLevels(): void {
    this.#levels.start()
  }

  /** Resolves when no level of segment files is full. */
  async levelsSettled(): Promise<void> {
    await this.#levels.settled()
  }

  /** Merges all segment files into one segment. @throws as `LevelMerger.compact` */
  async compactLevels(): Promise<void> {
    await this.#levels.compact()
  }

  /** Drops data that no version of the window sees. @throws as `LevelMerger.reclaim` */
  async reclaim(): Promise<void> {
    await this.#levels.reclaim()
  }

  /**
   * Waits until no segment files below the window are to be merged; if there is a limit, it waits for short merges
   * only. Resolves with the number of values and deletions that merges have dropped since the last call, or with
   * `most`; the remainder counts for the next call.
   */
  async dropBelow(most: number): Promise<{ readonly dropped: number; readonly isAll: boolean }> {
    if (most === Number.POSITIVE_INFINITY || this.#levels.isShortBelow) await this.#levels.settledBelow()
    return this.#levels.takeDropped(most)
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
    this.startLevels()
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
    const rows = await withStoreErrorsAsync(store.path, () => this.#writeHere(segment, file))
    await syncSegments(store, rows)
    return rows
  }

  /** The thread writes a copy, because this thread still reads the segment. */
  async #writeInThread(thread: FlushThread, segment: Segment, file: number): Promise<readonly SegmentRow[]> {
    const spare = this.#spare
    this.#spare = undefined
    for (const steps = segment.copyInSteps(spare); ; await nextTurn()) {
      const { done, value: copy } = steps.next()
      if (!done) continue
      const { rows, memory } = await thread.run({ copy, file }, [copy.memory])
      this.#spare = memory
      return rows
    }
  }

  /** Follows the progress of the thread with a segment of some bytes, until the returned function is called. */
  #follow(length: number): () => void {
    const start = this.#flushed.place
    let isEnded = false
    const follow = async () => {
      for (let place = start; !isEnded; place = this.#flushed.place) {
        await this.#flushed.left(place)
        this.#progress = this.#flushed.bytesSince(start) / length
        this.#wake()
      }
    }
    void follow()
    return () => {
      isEnded = true
      this.#flushed.wake()
    }
  }

  async #writeHere(segment: Segment, file: number): Promise<readonly SegmentRow[]> {
    for (const steps = flushSegment(unsyncedFiles(this.#parts.store), segment, file); ; ) {
      const { done, value } = steps.next()
      if (done) return value
      await this.#pause(value)
      if (!this.#isStopped) continue
      steps.return([])
      return []
    }
  }
}

function ignore(): void {}
