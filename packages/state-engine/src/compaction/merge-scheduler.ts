import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { Memtable } from '../memtable/memtable.js'
import type { Segment } from '../memtable/segment.js'
import { MergeReadAhead } from './merge-read-ahead.js'
import { SegmentMerge, type SliceBounds } from './merge-segment.js'
import { LatestRepacker } from './repack-latest.js'
import { type MergeThread, startMergeThread } from './threaded-merge.js'

/**
 * Work of one transaction of a merge; other work of the process gets its turn before the next. Packing pages and ending the
 * transaction take some more.
 */
export const SLICE_MS = 8
/** A slice whose records were read ahead has more keys than this, as each slice is synced: they take no longer on an idle machine. */
const LEAST_READ_KEYS = 512
/** Segments below this size take few slices on the event loop; for them no thread is started. */
const LEAST_THREAD_BYTES = 2 ** 20
/** Segments above this size are merged on the event loop: the thread copies the segment that it merges into its own memory. */
const MOST_THREAD_BYTES = 2 ** 28
/** A merge is done when a segment that is filled meanwhile is full to this share: then it need not be waited for. */
const DONE_AT_SHARE = 0.8
/** The share of sorting in the work of a merge, about. */
const SORT_SHARE = 0.1

export interface MergeParts {
  readonly store: LmdbStore
  readonly builder: RecordBuilder
  readonly table: Memtable
  /** Runs a slice in a write transaction; it returns whether the segment is merged. */
  transact(slice: () => boolean): Promise<boolean>
  /** Does the same with a transaction that a thread runs. */
  transactElsewhere(transact: () => Promise<boolean>): Promise<boolean>
  /** Has a thread know when others wait for its transaction. */
  useThread(thread: MergeThread): void
  /** Makes all transactions so far durable. */
  syncStore(): Promise<void>
  /** The segments of the files below a number are in LMDB. */
  onMerged(fileNumber: number): Promise<void>
}

/** Merges sealed segments, the oldest first, while the process does other work. */
export class MergeScheduler {
  readonly #parts: MergeParts
  readonly #repacker: LatestRepacker
  #running: Promise<void> | undefined
  #thread: MergeThread | undefined
  #mayStartThread = true
  #isStopped = false
  /** The share of the work on the oldest segment that is done. */
  #progress = 0
  #waiting: (() => void)[] = []

  constructor(parts: MergeParts) {
    this.#parts = parts
    this.#repacker = new LatestRepacker(parts.store)
  }

  /** Begins to merge, unless it does already or there is nothing to merge. */
  start(): void {
    void this.#start().catch(ignore)
  }

  /** Resolves when no sealed segment is left. Tries again after a merge that failed. @throws what the merge throws */
  async settled(): Promise<void> {
    await this.#start()
  }

  /**
   * Resolves when the merge is as far as it should be once this share of the next segment is filled, or none is under way:
   * commits that keep to its pace never wait for all of it.
   */
  async keepPace(filledShare: number): Promise<void> {
    while (this.isBehind(filledShare)) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Whether `keepPace` would wait. */
  isBehind(filledShare: number): boolean {
    return this.#running !== undefined && this.#progress < Math.min(1, filledShare / DONE_AT_SHARE)
  }

  /** Resolves when the transaction under way is over. No other begins. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#thread?.setWanted(true)
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

  /** Lets other work of the process have its turn. */
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
    while (this.#parts.table.segments.length > 1 && !this.#isStopped) await this.#merge(this.#parts.table.segments[0]!)
  }

  async #merge(segment: Segment): Promise<void> {
    const { syncStore, onMerged } = this.#parts
    this.#progress = 0
    const thread = this.#threadFor(segment)
    if (thread) await this.#mergeInThread(thread, segment)
    else await this.#mergeHere(segment)
    if (this.#isStopped) return
    await syncStore()
    await onMerged(segment.fileNumber + 1)
  }

  /** Undefined for what is merged on the event loop. */
  #threadFor({ length }: Segment): MergeThread | undefined {
    if (length < LEAST_THREAD_BYTES || length > MOST_THREAD_BYTES) return undefined
    if (this.#mayStartThread) {
      this.#mayStartThread = false
      this.#thread = startMergeThread(this.#parts.store)
      if (this.#thread) this.#parts.useThread(this.#thread)
    }
    return this.#thread?.isRunning ? this.#thread : undefined
  }

  async #mergeInThread(thread: MergeThread, { fileNumber }: Segment): Promise<void> {
    // The thread reads and sorts the segment first. Commits do not wait for that.
    this.#progress = SORT_SHARE
    await thread.ask({ kind: 'begin', fileNumber })
    for (let isMerged = false; !isMerged && !this.#isStopped; ) {
      await thread.ask({ kind: 'prepare' })
      if (this.#isStopped) return
      isMerged = await this.#parts.transactElsewhere(async () => {
        const reply = await thread.ask({ kind: 'transact' })
        this.#progress = SORT_SHARE + (1 - SORT_SHARE) * reply.progress
        return reply.isMerged
      })
      this.#wake()
    }
  }

  /** Merges in slices, between which other work of the process has its turn. */
  async #mergeHere(segment: Segment): Promise<void> {
    const { store, builder, transact } = this.#parts
    for (const _ of segment.sortInSteps()) {
      await this.#pause(SORT_SHARE * segment.sortedShare)
      if (this.#isStopped) return
    }
    const merge = new SegmentMerge(store, builder, segment, segment.fileNumber + 1)
    const readAhead = new MergeReadAhead(store, merge.keys)
    for (let isMerged = false; !isMerged; ) {
      const endKey = await readAhead.readFrom(merge.nextKey)
      if (this.#isStopped) return
      const bounds = { leastKeys: readAhead.isOn ? LEAST_READ_KEYS : 0, endKey }
      isMerged = await transact(() => this.#mergeSlice(merge, bounds))
      merge.sliceCommitted()
      await this.#pause(SORT_SHARE + (1 - SORT_SHARE) * merge.progress)
      if (this.#isStopped) return
    }
  }

  /** Returns whether the segment is merged. */
  #mergeSlice(merge: SegmentMerge, bounds: SliceBounds): boolean {
    const isMerged = merge.slice(SLICE_MS, bounds)
    this.#repacker.pack(merge.sliceKeys)
    return isMerged
  }
}

function ignore(): void {}
