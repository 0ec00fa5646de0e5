import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RecordBuilder } from '../bytes/record.js'
import type { AtFailpoint } from '../failpoints/failpoints.js'
import { LEDGER_KEY, type LmdbStore } from '../lmdb/lmdb-store.js'
import { decodeLedgerRecord } from '../records/ledger-record.js'
import { listSegmentRows, type SegmentRow } from '../records/segment-rows.js'
import { removeSegment } from '../segments/segment-names.js'
import { filesToMerge, type LevelMerge, mergeLevel, putMerged } from './merge-level.js'
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
}

/** Merges full levels of segment files, one after the other, while the process does other work. No commit waits for it. */
export class LevelMerger {
  readonly #parts: LevelParts
  #running: Promise<void> | undefined
  #isStopped = false

  constructor(parts: LevelParts) {
    this.#parts = parts
  }

  /** Begins to merge if a level is full, unless a merge is under way. */
  start(): void {
    if (this.#isStopped) return
    // After an error, such as a full disk, the next flush tries again.
    this.#running ??= this.#mergeAll()
      .catch(() => {})
      .finally(() => {
        this.#running = undefined
      })
  }

  /** Resolves when no level is full, or after an error. */
  async settled(): Promise<void> {
    this.start()
    await this.#running
  }

  /** Stops merging. Resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#parts
      .thread()
      ?.ask({ kind: 'cancel' })
      .catch(() => {})
    await this.#running
  }

  async #mergeAll(): Promise<void> {
    const { store, numbers } = this.#parts
    for (;;) {
      store.root.resetReadTxn()
      const bytes = store.meta.getBinary(LEDGER_KEY)
      const oldestVersion = bytes ? decodeLedgerRecord(bytes).ledger.oldestVersion : 0n
      const wanted = filesToMerge(listSegmentRows(store), oldestVersion)
      if (!wanted || this.#isStopped) return
      const merge = { ...wanted, file: numbers.take() }
      try {
        await this.#merge(merge)
      } catch (error) {
        removeSegment(store.path, merge.file)
        throw error
      }
    }
  }

  async #merge(merge: LevelMerge): Promise<void> {
    const { store, builder, atFailpoint, transact, syncStore } = this.#parts
    const output = await this.#write(merge)
    atFailpoint('level: file written')
    const isPut =
      output !== undefined &&
      !this.#isStopped &&
      (await transact(() => {
        const isWanted = putMerged(store, builder, merge, output)
        atFailpoint('level: before the transaction ends')
        return isWanted
      }))
    if (!isPut) {
      removeSegment(store.path, merge.file)
      return
    }
    await syncStore()
    atFailpoint('level: done')
    for (const { file } of merge.inputs) removeSegment(store.path, file)
    atFailpoint('level: files removed')
  }

  /** Writes the output. Returns undefined if it was stopped. */
  async #write(merge: LevelMerge): Promise<SegmentRow | undefined> {
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
