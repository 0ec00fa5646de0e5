import { isSameLedger, type LedgerSummary, type Truncation } from '@ledger-state/engine'
import { addTruncation, storeClosed } from '@ledger-state/engine/authoring'
import { storeCorruptErrors } from '../errors.js'
import type { AtFailpoint } from '../failpoints/failpoints.js'
import { beginRead } from '../lmdb/begin-read.js'
import { toReadError } from '../lmdb/damage-errors.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { expectSoundNames } from '../lmdb/sound-names.js'
import type { ReadTransaction } from '../lmdb/table.js'
import type { Memtable } from '../memtable/memtable.js'
import type { CommitHead } from '../memtable/segment.js'
import { expectImportedEntries } from '../records/import-record.js'
import { decodeLedgerRecord, LEDGER_KEY, type LedgerRecord } from '../records/ledger-record.js'
import { expectAllVersions, listSegmentRows, type SegmentRow } from '../records/segment-rows.js'
import { getTruncations, NO_TRUNCATIONS } from '../records/truncations.js'
import { walFilePath } from '../wal/append-file.js'
import { NO_SLICES, SegmentFiles, type SegmentSlice } from './segment-slices.js'

/**
 * One state of the store: the merged data, and the memtable of the rest. The memtable may already have later commits.
 */
export interface ReadSnapshot {
  readonly options: { readonly transaction: ReadTransaction }
  /** Ledger record of the merged data. */
  readonly record: LedgerRecord | undefined
  readonly ledger: LedgerSummary | undefined
  readonly memtable: Memtable
  /** Segment files of the merged data, the newest first. */
  readonly slices: readonly SegmentSlice[]
}

/** Head of the newest commit of the memtable; undefined if that commit is merged. */
export function unmergedHead({ record, memtable }: Pick<ReadSnapshot, 'record' | 'memtable'>): CommitHead | undefined {
  const { head } = memtable
  return head && record && head.number >= record.nextCommit ? head : undefined
}

/** Source of the memtable of a snapshot: the writer of the same engine, or the WAL files. */
export interface TableSource {
  readonly memtable: Memtable
  /** Brings the memtable up to date. Returns false if a file is gone that the ledger record needs. */
  follow(record: LedgerRecord): boolean
}

/** The ledger as one state of LMDB has it, without the commits of the WAL files. */
interface MergedState {
  readonly record: LedgerRecord
  readonly truncations: readonly Truncation[]
  /** Segment files, the oldest first. */
  readonly segmentRows: readonly SegmentRow[]
}

/** Time for which reads share a snapshot, which is also the longest delay until they see commits of other processes. */
const SHARED_MS = 20
/** Number of reads after which the clock is checked: within one turn of the event loop no timer fires. */
const READS_BETWEEN_CLOCKS = 4_096

/**
 * Shares one snapshot among all reads of some milliseconds: taking one costs more than two look-ups. While a snapshot
 * is held, the pages that it sees cannot be reused, so an idle engine releases it.
 */
export class ReadSnapshots {
  readonly #store: LmdbStore
  readonly #source: TableSource
  readonly #atFailpoint: AtFailpoint
  readonly #files: SegmentFiles
  #current: ReadSnapshot | undefined
  #takenAt = 0
  #readsLeft = 0
  #ticker: NodeJS.Timeout | undefined
  #idleTicks = 0
  #closed = false
  #seen: { readonly bytes: Buffer; readonly merged: MergedState } | undefined
  /** Ledger of the last snapshot, and the values it was made of: the object stays the same until the ledger changes. */
  #ledger: { head: CommitHead | undefined; record: LedgerRecord; info: LedgerSummary } | undefined

  constructor(store: LmdbStore, source: TableSource, atFailpoint: AtFailpoint) {
    this.#store = store
    this.#source = source
    this.#atFailpoint = atFailpoint
    this.#files = new SegmentFiles(store)
  }

  /** The current snapshot. @throws `store_closed` */
  current(): ReadSnapshot {
    if (this.#current !== undefined && --this.#readsLeft > 0) return this.#current
    return this.#renew()
  }

  /** Called after a commit of this engine, which changed only the memtable. */
  noticeCommit(): void {
    if (!this.#current) return
    this.#current = { ...this.#current, ledger: this.#toLedger(this.#current.record) }
  }

  #renew(): ReadSnapshot {
    if (this.#closed) throw storeClosed()
    const now = performance.now()
    this.#readsLeft = READS_BETWEEN_CLOCKS
    if (this.#current && now - this.#takenAt < SHARED_MS) return this.#current
    this.release()
    this.#current = this.#take()
    this.#takenAt = now
    this.#idleTicks = 0
    this.#ticker ??= setInterval(this.#tick, SHARED_MS).unref()
    return this.#current
  }

  /** Takes a snapshot. LMDB comes first, then the files: docs/storage.md, "Invariants". */
  #take(): ReadSnapshot {
    let missingWal: number | undefined
    let missingSegment: number | undefined
    /** Whether the store is damaged, because a file is missing that a second state also names. */
    const isDamaged = (transaction: ReadTransaction): boolean => {
      this.#store.expectInPlace()
      return !this.#store.showNewer(transaction)
    }
    for (;;) {
      const transaction = beginRead(this.#store.root)
      try {
        this.#atFailpoint('read: transaction begun')
        const merged = this.#readMerged(transaction)
        this.#atFailpoint('read: ledger record read')
        const slices = merged ? this.#files.take(merged.segmentRows) : NO_SLICES
        if (typeof slices === 'number') {
          if (slices === missingSegment && isDamaged(transaction)) this.#files.failMissing(slices)
          missingSegment = slices
          this.#seen = undefined
          this.#store.root.resetReadTxn()
          transaction.done()
          continue
        }
        if (!merged || this.#source.follow(merged.record)) {
          this.#atFailpoint('read: files followed')
          this.#files.keep(slices)
          const record = merged?.record
          const { memtable } = this.#source
          return { options: { transaction }, record, ledger: this.#toLedger(record), memtable, slices }
        }
        const { walFile } = merged.record
        if (walFile === missingWal && isDamaged(transaction)) {
          throw storeCorruptErrors.fileDamaged(
            walFilePath(this.#store.path, walFile),
            0,
            'the file, or one after it, is missing',
          )
        }
        missingWal = walFile
        this.#store.root.resetReadTxn()
      } catch (error) {
        transaction.done()
        throw toReadError(error)
      }
      transaction.done()
    }
  }

  #readMerged(transaction: ReadTransaction): MergedState | undefined {
    const { meta, verifyReads } = this.#store
    const bytes = meta.getBinary(LEDGER_KEY, { transaction })
    const isKnown = bytes !== undefined && this.#seen?.bytes.equals(bytes)
    if (!isKnown && verifyReads) expectSoundNames(meta, { transaction })
    if (!bytes) {
      expectImportedEntries(this.#store, listSegmentRows(this.#store, { transaction }), { transaction })
      return undefined
    }
    if (!isKnown) {
      const truncations = getTruncations(this.#store, { transaction })
      const segmentRows = listSegmentRows(this.#store, { transaction })
      const record = decodeLedgerRecord(bytes)
      expectAllVersions(segmentRows, record)
      this.#seen = { bytes, merged: { record, truncations, segmentRows } }
    }
    return this.#seen!.merged
  }

  #toLedger(record: LedgerRecord | undefined): LedgerSummary | undefined {
    if (!record) return undefined
    const { memtable } = this.#source
    const head = unmergedHead({ record, memtable })
    const merged = this.#seen?.merged.truncations ?? NO_TRUNCATIONS
    if (!head && merged.length === 0) return record.ledger
    if (this.#ledger?.head !== head || this.#ledger?.record !== record) {
      const { latestVersion, latestBlock } = head ?? record.ledger
      const truncations = withTruncations(merged, memtable)
      const info = { ...record.ledger, latestVersion, latestBlock, ...(truncations.length > 0 && { truncations }) }
      // A new mark leaves the ledger as it is.
      const before = this.#ledger?.info
      this.#ledger = { head, record, info: before && isSameLedger(before, info) ? before : info }
    }
    return this.#ledger!.info
  }

  /** Makes the next snapshot see the newest state, even if another read of this turn still uses an older one. */
  forget(): void {
    this.release()
    this.#store.root.resetReadTxn()
  }

  release(): void {
    this.#current?.options.transaction.done()
    this.#current = undefined
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#ticker)
    this.#ticker = undefined
    this.release()
    this.#files.keep(NO_SLICES)
  }

  readonly #tick = (): void => {
    if (this.#current) this.release()
    else if (++this.#idleTicks >= 4) {
      clearInterval(this.#ticker)
      this.#ticker = undefined
    }
  }
}

function withTruncations(merged: readonly Truncation[], { segments }: Memtable): readonly Truncation[] {
  let list = merged
  for (const { truncations } of segments) for (const one of truncations) list = addTruncation(list, one)
  return list
}
