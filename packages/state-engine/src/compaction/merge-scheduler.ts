import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RecordBuilder } from '../bytes/record.js'
import type { AtFailpoint } from '../failpoints/failpoints.js'
import { freeBytes } from '../lmdb/free-bytes.js'
import { LEDGER_KEY, type LmdbStore, withStoreErrorsAsync } from '../lmdb/lmdb-store.js'
import type { Memtable } from '../memtable/memtable.js'
import type { Segment } from '../memtable/segment.js'
import { decodeLedgerRecord } from '../records/ledger-record.js'
import type { SegmentRow } from '../records/segment-rows.js'
import type { ObsoleteSegments } from '../segments/obsolete-segments.js'
import { filesOfFlush, flushSegment, putFlushed } from './flush-segment.js'
import { LevelMerger } from './level-merger.js'
import type { SegmentNumbers } from './segment-numbers.js'
import { type CompactionThread, type FlushRequest, startCompactionThread } from './threaded-compaction.js'

/** Size of the smallest segment for which a thread is started: smaller ones take few slices on the event loop. */
const LEAST_THREAD_BYTES = 2 ** 20
/**
 * Size of the largest segment that a thread writes: the thread copies the segment into its own memory. Larger ones are
 * written on the event loop.
 */
const MOST_THREAD_BYTES = 2 ** 28
/**
 * Share of the next segment that is free to commits while a segment is written into files: the thread reads it first, which
 * is a third of its work. From then on commits fill as much of the next segment as the thread has done of this one.
 */
const FREE_SHARE = 0.4
/** Share of sorting in the work of a merge, estimated. */
const SORT_SHARE = 0.1

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
  /** Makes all transactions so far durable. */
  syncStore(): Promise<void>
  /** Called when the segments of all WAL files below a number are in segment files. */
  onMerged(fileNumber: number): Promise<void>
}

/** Writes sealed segments of the memtable into files, the oldest first, while the process does other work. */
export class MergeScheduler {
  readonly #parts: MergeParts
  readonly #levels: LevelMerger
  #running: Promise<void> | undefined
  #thread: CompactionThread | undefined
  #mayStartThread = true
  #isStopped = false
  /** Share of the work on the oldest segment that is done. */
  #progress = 0
  #waiting: (() => void)[] = []

  constructor(parts: MergeParts) {
    this.#parts = parts
    this.#levels = new LevelMerger({ ...parts, freeBytes })
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
    return this.#running !== undefined && this.#progress < Math.min(1, filledShare - FREE_SHARE)
  }

  /** Resolves when merges of segment files have done their part for commits of some bytes: see `LevelMerger`. */
  async keepPaceOfLevels(bytes: number): Promise<void> {
    await this.#levels.keepPace(bytes)
  }

  /** Whether `keepPaceOfLevels` would wait. */
  isBehindLevels(bytes: number): boolean {
    return this.#levels.isBehind(bytes)
  }

  get #runningThread(): CompactionThread | undefined {
    return this.#thread?.isRunning ? this.#thread : undefined
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

  /** Drops what no version of the window sees. @throws as `LevelMerger.reclaim` */
  async reclaim(): Promise<void> {
    await this.#levels.reclaim()
  }

  /**
   * Waits until no segment files below the window are to be merged; if there is a limit, it waits for short merges only.
   * Resolves with the number of values and deletions that merges have dropped since the last call, or with `most`; what is
   * left counts for the next call.
   */
  async dropBelow(most: number): Promise<{ readonly dropped: number; readonly isAll: boolean }> {
    if (most === Number.POSITIVE_INFINITY || this.#levels.isShortBelow) await this.#levels.settledBelow()
    return this.#levels.takeDropped(most)
  }

  /** Writes a segment into files. */
  async #flush(segment: Segment): Promise<void> {
    const { store, builder, numbers, obsolete, transact, syncStore, onMerged } = this.#parts
    const { fileNumber } = segment
    this.#progress = 0
    const thread = this.#threadFor(segment)
    const rows = await this.#writeFiles(thread, segment, numbers.take(filesOfFlush(segment)))
    if (this.#isStopped) {
      obsolete.remove(rows.map(({ file }) => file))
      return
    }
    // If the transaction fails, the files stay: it may be on disk all the same. The next writer removes what is not named.
    await transact(() => {
      putFlushed(store, builder, segment, rows, fileNumber + 1)
      return true
    })
    await syncStore()
    await onMerged(fileNumber + 1)
    this.startLevels()
  }

  async #writeFiles(
    thread: CompactionThread | undefined,
    segment: Segment,
    segmentFile: number,
  ): Promise<readonly SegmentRow[]> {
    const walFile = this.#walFileOf(segment)
    if (thread && walFile) {
      const ended = this.#follow(thread, segment)
      try {
        return await thread.flush({ walFile, segmentFile })
      } catch {
        // The thread cannot read the WAL file, which was damaged since; this process still has it in memory.
      } finally {
        ended()
      }
    }
    return await withStoreErrorsAsync(this.#parts.store.path, () => this.#flushHere(segment, segmentFile))
  }

  /** The WAL file of a segment, as the thread reads it; undefined if the first one to be merged is another. */
  #walFileOf({ fileNumber }: Segment): FlushRequest['walFile'] | undefined {
    const { root, meta } = this.#parts.store
    root.resetReadTxn()
    const bytes = meta.getBinary(LEDGER_KEY)
    if (!bytes) return undefined
    const { walFile, nextCommit, ledger, logEnd } = decodeLedgerRecord(bytes)
    return walFile === fileNumber
      ? { fileNumber, firstCommit: nextCommit, blockBefore: ledger.latestBlock, logEnd }
      : undefined
  }

  /** Follows the progress of a thread that writes a segment into files, until the returned function is called. */
  #follow({ flushed }: CompactionThread, { length }: Segment): () => void {
    const start = flushed.place
    let isEnded = false
    const follow = async () => {
      for (let place = start; !isEnded; place = flushed.place) {
        await flushed.left(place)
        this.#progress = flushed.bytesSince(start) / length
        this.#wake()
      }
    }
    void follow()
    return () => {
      isEnded = true
      flushed.wake()
    }
  }

  async #flushHere(segment: Segment, segmentFile: number): Promise<readonly SegmentRow[]> {
    for (const _ of segment.sortInSteps()) await this.#pause(SORT_SHARE * segment.sortedShare)
    let writes = 0
    for (const steps = flushSegment(this.#parts.store, segment, segmentFile); ; ) {
      const { done, value } = steps.next()
      if (done) return value
      writes += value
      await this.#pause(SORT_SHARE + ((1 - SORT_SHARE) * writes) / segment.entryCount)
      if (!this.#isStopped) continue
      steps.return([])
      return []
    }
  }

  /** Thread for a segment; undefined if the segment is written on the event loop. */
  #threadFor({ length }: Segment): CompactionThread | undefined {
    if (length < LEAST_THREAD_BYTES || length > MOST_THREAD_BYTES) return undefined
    if (this.#mayStartThread) {
      this.#mayStartThread = false
      this.#thread = startCompactionThread(this.#parts.store)
    }
    return this.#runningThread
  }
}

function ignore(): void {}
