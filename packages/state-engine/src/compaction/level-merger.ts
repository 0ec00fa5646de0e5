import { setImmediate as nextTurn } from 'node:timers/promises'
import { isLedgerStateError, type LedgerStateError } from '@ledger-state/core'
import type { RecordBuilder } from '../bytes/record.js'
import type { AtFailpoint } from '../failpoints/failpoints.js'
import { LEDGER_KEY, type LmdbStore } from '../lmdb/lmdb-store.js'
import { decodeLedgerRecord } from '../records/ledger-record.js'
import { expectAllVersions, listSegmentRows, type SegmentRow } from '../records/segment-rows.js'
import { removeSegment } from '../segments/segment-names.js'
import {
  filesBelow,
  filesOfMerge,
  filesToMerge,
  hasRoom,
  type LevelMerge,
  type MergedLevel,
  mergeLevel,
  putMerged,
} from './merge-level.js'
import { packingOf } from './packing.js'
import type { SegmentNumbers } from './segment-numbers.js'
import type { CompactionThread } from './threaded-compaction.js'

export interface LevelParts {
  readonly store: LmdbStore
  readonly builder: RecordBuilder
  readonly numbers: SegmentNumbers
  readonly atFailpoint: AtFailpoint
  /** The thread of merges, if it runs. */
  thread(): CompactionThread | undefined
  /** Runs work in a write transaction. */
  transact(work: () => boolean): Promise<boolean>
  /** Makes all transactions so far durable. */
  syncStore(): Promise<void>
  /** Free bytes of the disk of a path. */
  freeBytes(path: string): number
}

/** Writes of a merge of some tens of milliseconds. */
const MOST_SHORT_WRITES = 50_000

/**
 * Merges full levels of segment files, and those below the window, one after the other, while the process does other work. No
 * commit waits for it.
 */
export class LevelMerger {
  readonly #parts: LevelParts
  #running: Promise<void> | undefined
  #isStopped = false
  /** Damage that a merge has found. Until the store is opened again, no other merge would get further. */
  #damage: LedgerStateError | undefined
  #merging: LevelMerge | undefined
  #dropped = 0
  /** Called when no files below the window are left to be merged, or when merges have ended. */
  #waiting: (() => void)[] = []

  constructor(parts: LevelParts) {
    this.#parts = parts
  }

  /** Begins to merge if a level is full, unless a merge is under way. */
  start(): void {
    if (this.#isStopped || this.#damage) return
    let hasFailed = false
    this.#running ??= this.#mergeAll()
      .catch((error: unknown) => {
        // After an error, such as a full disk, the next flush tries again.
        hasFailed = true
        if (isLedgerStateError(error, 'store_corrupt')) this.#damage = error
      })
      .finally(() => {
        this.#running = undefined
        if (hasFailed || this.#isStopped) this.#wake()
        else if (this.#waiting.length > 0) this.start()
      })
  }

  /** Resolves when no level is full, or after an error. @throws `store_corrupt` if a merge found damage */
  async settled(): Promise<void> {
    this.start()
    await this.#running
    if (this.#damage) throw this.#damage
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

  /** Whether `settledBelow` resolves within some tens of milliseconds. */
  get isShortBelow(): boolean {
    const { rows, oldestVersion } = this.#read()
    const below = oldestVersion === undefined ? undefined : filesBelow(rows, oldestVersion)
    const inputs = [...(below?.inputs ?? []), ...(this.#merging?.inputs ?? [])]
    return inputs.reduce((sum, { writes }) => sum + writes, 0) <= MOST_SHORT_WRITES
  }

  /**
   * Takes the number of values and deletions that merges have dropped and that nobody has taken yet, or as many as `most`.
   */
  takeDropped(most: number): { readonly dropped: number; readonly isAll: boolean } {
    const dropped = Math.min(this.#dropped, most)
    this.#dropped -= dropped
    return { dropped, isAll: this.#dropped === 0 }
  }

  /** Stops merging. Resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#parts
      .thread()
      ?.ask({ kind: 'cancel' })
      .catch(() => {})
    await this.#running
    this.#wake()
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  async #mergeAll(): Promise<void> {
    const { store, numbers, freeBytes } = this.#parts
    for (;;) {
      const { rows, oldestVersion } = this.#read()
      const wanted = filesToMerge(rows, oldestVersion)
      if (wanted?.floor === undefined) this.#wake()
      if (!wanted || this.#isStopped) return
      // Until others make room, level 0 grows. Commits go on.
      if (!hasRoom(wanted, freeBytes(store.path))) {
        this.#wake()
        return
      }
      const storeBytes = rows.reduce((sum, { fileBytes }) => sum + fileBytes, 0)
      const packing = packingOf(wanted.level, storeBytes, store.compressHistory ? 'always' : 'auto')
      this.#merging = { ...wanted, packing, file: numbers.take(filesOfMerge(wanted)) }
      try {
        await this.#merge(this.#merging)
      } finally {
        this.#merging = undefined
      }
    }
  }

  /** `oldestVersion` is undefined while a state is imported. @throws `store_corrupt` if damage in LMDB hides a file: a merge would seem to have its versions */
  #read(): { readonly rows: readonly SegmentRow[]; readonly oldestVersion: bigint | undefined } {
    const { store } = this.#parts
    store.root.resetReadTxn()
    const bytes = store.meta.getBinary(LEDGER_KEY)
    const rows = listSegmentRows(store)
    // An import under way has no ledger record.
    if (!bytes) return { rows, oldestVersion: undefined }
    const record = decodeLedgerRecord(bytes)
    expectAllVersions(rows, record)
    return { rows, oldestVersion: record.ledger.oldestVersion }
  }

  async #merge(merge: LevelMerge): Promise<void> {
    const { store, builder, atFailpoint, transact, syncStore } = this.#parts
    atFailpoint('level: began')
    const output = await this.#write(merge)
    atFailpoint('level: file written')
    // If the transaction fails, the output stays: it may be on disk all the same. The next writer removes what is not named.
    const isPut =
      output !== undefined &&
      !this.#isStopped &&
      (await transact(() => {
        const isWanted = putMerged(store, builder, merge, output.rows)
        atFailpoint('level: before the transaction ends')
        return isWanted
      }))
    if (!isPut) {
      for (const { file } of output?.rows ?? []) removeSegment(store.path, file)
      return
    }
    this.#dropped += output.dropped
    await syncStore()
    atFailpoint('level: done')
    for (const { file } of merge.inputs) removeSegment(store.path, file)
    atFailpoint('level: files removed')
  }

  /** Writes the output. Returns undefined if it was stopped. */
  async #write(merge: LevelMerge): Promise<MergedLevel | undefined> {
    const { store } = this.#parts
    const thread = this.#parts.thread()
    if (thread) return await thread.ask({ kind: 'level', merge })
    for (const steps = mergeLevel(store, merge); ; ) {
      const { done, value } = steps.next()
      if (done) return value
      if (this.#isStopped) {
        steps.return(undefined as never)
        return undefined
      }
      await nextTurn()
    }
  }
}
