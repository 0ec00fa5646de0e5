import { isLedgerStateError, type LedgerStateError } from '@ledger-state/core'
import { storeClosed } from '@ledger-state/engine/authoring'
import type { RecordBuilder } from '../bytes/record.js'
import { storeFull } from '../errors.js'
import type { AtFailpoint } from '../failpoints/failpoints.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { withStoreErrorsAsync } from '../lmdb/store-errors.js'
import { getLedgerRecord } from '../records/ledger-record.js'
import { expectAllVersions, listSegmentRows, type SegmentRow } from '../records/segment-rows.js'
import type { ObsoleteSegments } from '../segments/obsolete-segments.js'
import { codecOfLevel } from './codec-of-level.js'
import { LevelWork } from './level-work.js'
import {
  FINAL_LEVEL,
  filesBelow,
  filesOfMerge,
  filesToMerge,
  hasRoom,
  type LevelMerge,
  type MergedLevel,
  mergesPerByte,
  putMerged,
} from './merge-level.js'
import { createMergeThread, type LevelThread } from './merge-threads.js'
import { filesOfWindow, mergeWindow } from './merge-window.js'
import { runInTurns } from './run-in-turns.js'
import type { SegmentNumbers } from './segment-numbers.js'
import { SharedProgress } from './shared-progress.js'
import { syncSegments, unsyncedFiles } from './write-segments.js'

export interface LevelParts {
  readonly store: LmdbStore
  readonly builder: RecordBuilder
  readonly numbers: SegmentNumbers
  readonly obsolete: ObsoleteSegments
  readonly atFailpoint: AtFailpoint
  /** Whether other versions precede the store's: `WriterOptions.part`. */
  readonly isPart: boolean
  /** Runs work in a write transaction. */
  transact(work: () => boolean): Promise<boolean>
  /** Free bytes of the disk of a path. */
  freeBytes(path: string): number
}

/** `oldestVersion` is undefined while a state is imported. */
interface StoreFiles {
  readonly rows: readonly SegmentRow[]
  readonly oldestVersion: bigint | undefined
}

/** Writes of a merge that takes tens of milliseconds. */
const MOST_SHORT_WRITES = 50_000
/** A merge of this many bytes of keys and values runs in the thread. */
const LEAST_THREAD_BYTES = 2 ** 20
/** Bytes of merges that commits may be ahead by, so that not each of them waits for a step of a merge. */
const MOST_AHEAD_BYTES = 2 ** 18

/**
 * Merges full levels of segment files, and those below the window, while the process does other work. There is one merge of
 * a level at a time, and flushes wait for none. Commits wait for merges only while there are many segments in a level, and
 * then in proportion to their bytes.
 */
export class LevelMerger {
  readonly #parts: LevelParts
  readonly #progress = new SharedProgress()
  readonly #work: LevelWork
  readonly #thread: LevelThread | undefined
  readonly #running = new Map<LevelMerge, Promise<void>>()
  #isStopped = false
  /** Damage that a merge has found. Until the store is opened again, no other merge would get further. */
  #damage: LedgerStateError | undefined
  /** Number of values and deletions that merges have dropped and `dropBelow` has not reported. */
  #dropped = 0
  /** Called when no files below the window are left to be merged, or when merges have ended. */
  #waiting: (() => void)[] = []
  /** Bytes of merges for each byte of commits: `mergesPerByte`. */
  #pace = 0
  /** Bytes of merges that commits are ahead by. */
  #ahead = 0
  #place = 0

  constructor(parts: LevelParts) {
    this.#parts = parts
    this.#work = new LevelWork(unsyncedFiles(parts.store), this.#progress)
    this.#thread = createMergeThread('level-thread', parts.store, this.#progress)
  }

  /** Begins the merges that are wanted and not under way. */
  start(): void {
    if (this.#isStopped || this.#damage) return
    try {
      const state = this.#read()
      this.#pace = mergesPerByte(state.rows)
      for (let merge = this.#choose(state); merge; merge = this.#choose(state)) this.#begin(merge)
      // Until others make room on the disk, files below the window stay.
      if (this.#running.size === 0 || !isAnyBelow(state)) this.#wake()
    } catch (error) {
      this.#fail(error)
    }
  }

  /**
   * Resolves when no level is full, or after an error. Without room on the disk, full levels stay.
   * @throws `store_corrupt` if a merge found damage
   */
  async settled(): Promise<void> {
    this.start()
    while (this.#running.size > 0) await Promise.all(this.#running.values())
    if (this.#damage) throw this.#damage
  }

  /**
   * Merges all files into one final segment, except those with an imported state. Its bytes depend only on the writes, so
   * stores with the same writes and the same id of segments then have the same files.
   * @throws `store_corrupt`; `store_full` if the disk has no room for the output in addition to the files
   */
  async compact(): Promise<void> {
    const { store, numbers, freeBytes } = this.#parts
    await this.settled()
    const inputs = this.#read().rows.filter(({ isBase }) => !isBase)
    const isFinal =
      new Set(inputs.map(({ firstVersion }) => firstVersion)).size === 1 && inputs[0]!.level === FINAL_LEVEL
    if (this.#isStopped || inputs.length === 0 || isFinal) return
    if (!hasRoom([{ inputs }], freeBytes(store.path))) throw storeFull(store.path, undefined)
    const choice = { inputs, level: FINAL_LEVEL, floor: undefined, codec: codecOfLevel(FINAL_LEVEL, 0, 'always') }
    const merge = { ...choice, file: numbers.take(filesOfMerge(choice)) }
    const merged = this.#merge(merge)
    this.#running.set(
      merge,
      merged.catch(() => {}),
    )
    await merged.finally(() => this.#running.delete(merge))
  }

  /**
   * Rewrites all files, even those that reach into the window, without data that no version of the window sees.
   * @throws `store_corrupt`; `store_full` if the disk has no room for the output in addition to the files; `store_closed` if it
   *   was stopped
   */
  async reclaim(): Promise<void> {
    const { store, numbers, freeBytes } = this.#parts
    await this.settled()
    const { rows: inputs, oldestVersion: floor } = this.#read()
    if (this.#isStopped || inputs.length === 0 || floor === undefined || floor < 0n) return
    if (!hasRoom([{ inputs }], freeBytes(store.path))) throw storeFull(store.path, undefined)
    const codec = codecOfLevel(FINAL_LEVEL, fileBytesOf(inputs), store.compress)
    const file = numbers.take(filesOfWindow(inputs))
    const expectGoing = () => {
      if (this.#isStopped) throw storeClosed()
    }
    const rows = await withStoreErrorsAsync(store.path, () =>
      runInTurns(mergeWindow(unsyncedFiles(store), { inputs, floor, file, codec }), expectGoing),
    )
    await syncSegments(store, rows)
    await this.#replace(inputs, { rows, dropped: 0 })
  }

  /**
   * Resolves when no files below the window are to be merged, or after an error. @throws `store_corrupt` if a merge found
   * damage
   */
  async settledBelow(): Promise<void> {
    if (!this.#isStopped && !this.#damage) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
        this.start()
      })
    }
    if (this.#damage) throw this.#damage
  }

  /**
   * Waits until no segment files below the window are to be merged; if there is a limit, it waits for short merges
   * only. Resolves with the number of values and deletions that merges have dropped since the last call, or with
   * `most`; the remainder counts for the next call.
   */
  async dropBelow(most: number): Promise<{ readonly dropped: number; readonly isAll: boolean }> {
    if (most === Number.POSITIVE_INFINITY || this.#isShortBelow) await this.settledBelow()
    const dropped = Math.min(this.#dropped, most)
    this.#dropped -= dropped
    return { dropped, isAll: this.#dropped === 0 }
  }

  /** Whether `settledBelow` resolves within tens of milliseconds. */
  get #isShortBelow(): boolean {
    const { rows, oldestVersion } = this.#read()
    const below = oldestVersion === undefined ? undefined : filesBelow(rows, oldestVersion)
    const inputs = [...(below?.inputs ?? []), ...[...this.#running.keys()].flatMap((merge) => merge.inputs)]
    return inputs.reduce((sum, { writes }) => sum + writes, 0) <= MOST_SHORT_WRITES
  }

  /** Whether `keepPace` would wait. */
  isBehind(bytes: number): boolean {
    return this.#running.size > 0 && this.#aheadNow() + this.#pace * bytes > MOST_AHEAD_BYTES
  }

  /**
   * Counts the bytes of new commits. If a level has many segments, it resolves when merges have done their part for
   * these bytes. It does not wait if no merge can run, for example because the disk is full.
   */
  async keepPace(bytes: number): Promise<void> {
    this.#ahead = this.#aheadNow() + this.#pace * bytes
    while (this.#running.size > 0 && this.#pace > 0 && this.#aheadNow() > MOST_AHEAD_BYTES) {
      await this.#progress.left(this.#place)
    }
    if (this.#running.size === 0 || this.#pace === 0) this.#ahead = 0
  }

  #aheadNow(): number {
    this.#ahead = Math.max(0, this.#ahead - this.#progress.bytesSince(this.#place))
    this.#place = this.#progress.place
    return this.#ahead
  }

  /** Stops merging. Resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#progress.stop()
    await Promise.all(this.#running.values())
    await this.#thread?.close()
    this.#wake()
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Notes that a merge failed. After an error such as a full disk, the next flush tries again. */
  #fail(error: unknown): void {
    if (isLedgerStateError(error, 'store_corrupt')) this.#damage = error
    this.#wake()
  }

  #choose({ rows, oldestVersion }: StoreFiles): LevelMerge | undefined {
    const { store, numbers, freeBytes } = this.#parts
    const running = [...this.#running.keys()]
    const wanted = filesToMerge(rows, oldestVersion, running)
    // Until others make room, level 0 grows. Commits continue.
    if (!wanted || !hasRoom([...running, wanted], freeBytes(store.path))) return undefined
    const codec = codecOfLevel(wanted.level, fileBytesOf(rows), store.compress)
    return { ...wanted, codec, file: numbers.take(filesOfMerge(wanted)) }
  }

  #begin(merge: LevelMerge): void {
    const ended = async () => {
      let isDone = false
      try {
        await this.#merge(merge)
        isDone = true
      } catch (error) {
        this.#fail(error)
      }
      this.#running.delete(merge)
      if (isDone && !this.#isStopped) this.start()
      else this.#wake()
      this.#progress.wake()
    }
    this.#running.set(merge, ended())
  }

  /** @throws `store_corrupt` if damage in LMDB hides a file: a merge would seem to have its versions */
  #read(): StoreFiles {
    const { store, isPart } = this.#parts
    store.root.resetReadTxn()
    const record = getLedgerRecord(store)
    const rows = listSegmentRows(store)
    // An import under way has no ledger record.
    if (!record) return { rows, oldestVersion: undefined }
    expectAllVersions(rows, record)
    // Nothing of a part is below the window: an earlier part may need its deletions.
    return { rows, oldestVersion: isPart ? -1n : record.ledger.oldestVersion }
  }

  async #merge(merge: LevelMerge): Promise<void> {
    const { atFailpoint } = this.#parts
    atFailpoint('level: began')
    const output = await this.#write(merge)
    atFailpoint('level: file written')
    if (output) await this.#replace(merge.inputs, output)
  }

  /** Lets written files take the place of others, or removes them if they are not wanted any more. */
  async #replace(inputs: readonly SegmentRow[], { rows, dropped }: MergedLevel): Promise<void> {
    const { store, builder, obsolete, atFailpoint, transact } = this.#parts
    // If the transaction fails, the output stays: it may be on disk anyway. The next writer removes files that no row
    // names.
    const isPut =
      !this.#isStopped &&
      (await transact(() => {
        const isWanted = putMerged(store, builder, inputs, rows)
        atFailpoint('level: before the transaction ends')
        return isWanted
      }))
    if (!isPut) {
      await obsolete.remove(rows.map(({ file }) => file))
      return
    }
    // Before the files are removed: meanwhile `settledBelow` may resolve.
    this.#dropped += dropped
    atFailpoint('level: done')
    await obsolete.remove(inputs.map(({ file }) => file))
    atFailpoint('level: files removed')
  }

  /** Writes the output. Returns undefined if it was stopped. */
  async #write(merge: LevelMerge): Promise<MergedLevel | undefined> {
    const { store } = this.#parts
    const bytes = merge.inputs.reduce((sum, { payloadBytes }) => sum + payloadBytes, 0)
    if (this.#thread && bytes >= LEAST_THREAD_BYTES) return await this.#thread.run(merge)
    const merged = await withStoreErrorsAsync(store.path, () => this.#work.run(merge))
    await syncSegments(store, merged?.rows ?? [])
    return merged
  }
}

function fileBytesOf(rows: readonly SegmentRow[]): number {
  return rows.reduce((sum, { fileBytes }) => sum + fileBytes, 0)
}

function isAnyBelow({ rows, oldestVersion }: StoreFiles): boolean {
  return oldestVersion !== undefined && filesBelow(rows, oldestVersion) !== undefined
}
