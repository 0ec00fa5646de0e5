import type { KeyedEntry } from '@ledger-state/core'
import type { ImportBase, ImportOptions, StateImport, UnfinishedImport } from '@ledger-state/engine'
import {
  expectObject,
  expectU64,
  importNeedsEmptyStore,
  importReplaced,
  validateImportBase,
  validateImportPart,
} from '@ledger-state/engine/authoring'
import { syncSegments } from '../compaction/write-segments.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { withStoreErrors, withSystemErrorsAsync } from '../lmdb/store-errors.js'
import { NO_SLICES } from '../read/segment-slices.js'
import {
  expectImportedEntries,
  getImportRecord,
  type ImportCounts,
  type ImportRecord,
  putImportRecord,
  removeImportRecord,
} from '../records/import-record.js'
import { getLedgerRecord, type LedgerRecord, NOTHING_MERGED, putLedgerRecord } from '../records/ledger-record.js'
import { putMark } from '../records/mark.js'
import { listSegmentRows, putSegmentRow, type SegmentRow } from '../records/segment-rows.js'
import { removeUnnamedSegments } from '../segments/segment-names.js'
import type { FollowingFile } from '../wal/appender.js'
import { writeImportedBlock, writeImportedPart } from './import-segments.js'
import type { WriterParts } from './writer-parts.js'

const NOTHING: ImportCounts = { entries: 0, payloadBytes: 0 }

/** Begins an import, or resumes one. @throws `store_not_empty`, `invalid_argument` */
export async function beginImport(
  parts: WriterParts,
  version: bigint,
  options: ImportOptions = {},
): Promise<StateImport> {
  expectU64('the version of the import', version)
  expectObject('the options of the import', options)
  const { store, builder, transactions, importFiles } = parts
  let left: ImportRecord | undefined
  let isDropped = false
  parts.expectOpen()
  const begin = () => {
    left = undefined
    isDropped = false
    if (getLedgerRecord(store)) throw importNeedsEmptyStore()
    left = getImportRecord(store)
    if (left && (!options.resume || left.version !== version)) {
      dropUnfinishedImport(store)
      isDropped = true
      left = undefined
    }
    if (!left) putImportRecord(store, builder, { version, counts: NOTHING, mark: undefined })
  }
  await transactions.inTurn(async () => {
    await transactions.runInTurn(store.durability, begin)
    if (!isDropped) return
    importFiles.keep(NO_SLICES)
    withStoreErrors(store.path, () => removeUnnamedSegments(store.path, new Set()))
  })
  parts.onChange()
  return new LmdbImport(parts, version, left?.counts ?? NOTHING, left?.mark)
}

/** Finds the import that was begun and not finished. */
export function unfinishedImport({ store, expectOpen }: WriterParts): UnfinishedImport | undefined {
  expectOpen()
  store.seeNewest()
  const left = getImportRecord(store)
  return left && { version: left.version, mark: left.mark }
}

/** Discards an unfinished import, within the transaction of the caller. */
export function dropUnfinishedImport(store: LmdbStore): void {
  if (!getImportRecord(store)) return
  store.segments.clearSync()
  removeImportRecord(store)
}

class LmdbImport implements StateImport {
  readonly version: bigint
  #mark: Uint8Array | undefined
  readonly #parts: WriterParts
  #counts: ImportCounts

  constructor(parts: WriterParts, version: bigint, counts: ImportCounts, mark: Uint8Array | undefined) {
    this.#parts = parts
    this.version = version
    this.#counts = counts
    this.#mark = mark
  }

  get entryCount(): number {
    return this.#counts.entries
  }

  get mark(): Uint8Array | undefined {
    return this.#mark && Uint8Array.from(this.#mark)
  }

  add(entries: readonly KeyedEntry[], mark?: Uint8Array): Promise<void> {
    return withSystemErrorsAsync(this.#parts.store.path, () => this.#add(entries, mark))
  }

  finish(base: ImportBase): Promise<void> {
    return withSystemErrorsAsync(this.#parts.store.path, async () => {
      await this.#parts.inTurn(() => this.#finish(base))
      // An import leaves more files than others read at once.
      await this.#parts.merges.levels.settled()
    })
  }

  async #add(entries: readonly KeyedEntry[], mark?: Uint8Array): Promise<void> {
    validateImportPart(this.version, entries, mark)
    const { store, builder, transactions, atFailpoint, expectOpen, onChange } = this.#parts
    let counts = this.#counts
    expectOpen()
    const rows = this.#writeFiles(entries)
    await syncSegments(store, rows)
    await transactions.run(store.durability, () => {
      this.#expectCurrent()
      counts = this.#putRows(rows, entries)
      putImportRecord(store, builder, { version: this.version, counts, mark })
      atFailpoint('import: part done')
    })
    onChange()
    this.#counts = counts
    // So that an import of many parts does not have many files open.
    await this.#parts.merges.levels.settled()
    this.#mark = mark && Uint8Array.from(mark)
  }

  async #finish(base: ImportBase): Promise<void> {
    const chainId = validateImportBase(this.version, base)
    const { block, mark, complete = true } = base
    const { version } = this
    const { store, builder, log, transactions, importFiles, atFailpoint, expectOpen, onChange } = this.#parts
    const ledger = { chainId, latestVersion: version, latestBlock: block, oldestVersion: version, oldestBlock: block }
    expectOpen()
    const blockRow = withStoreErrors(store.path, () =>
      writeImportedBlock(store, version, block, this.#parts.numbers.take()),
    )
    await syncSegments(store, [blockRow])
    const finish = ({ walFile, nextCommit }: FollowingFile) =>
      // Commits in that file need the writes of this transaction.
      transactions.runInTurn(transactions.ofLog, () => {
        this.#expectCurrent()
        const record: LedgerRecord = {
          ledger,
          base: { version, complete },
          walFile,
          nextCommit,
          ...NOTHING_MERGED,
          nextFile: blockRow.file + 1,
          files: this.#importedRows().length + 1,
          blocks: 1,
        }
        putSegmentRow(store, builder, blockRow)
        putLedgerRecord(store, builder, record)
        putMark(store, builder, mark)
        removeImportRecord(store)
        atFailpoint('import: before it counts')
      })
    await transactions.inTurn(() => log.bypass('import: done', finish))
    importFiles.keep(NO_SLICES)
    onChange()
  }

  /** Checks that no other import, and no commit, has discarded this one. */
  #expectCurrent(): void {
    const left = getImportRecord(this.#parts.store)
    if (left?.version === this.version && left.counts.entries === this.#counts.entries) return
    throw importReplaced(this.version)
  }

  #writeFiles(entries: readonly KeyedEntry[]): SegmentRow[] {
    const { store, numbers, importFiles } = this.#parts
    return withStoreErrors(store.path, () => {
      store.seeNewest()
      this.#expectCurrent()
      const slices = importFiles.take(this.#importedRows())
      if (typeof slices === 'number') return importFiles.failMissing(slices)
      importFiles.keep(slices)
      return writeImportedPart(store, this.version, entries, slices, () => numbers.take())
    })
  }

  /** Rows of the parts so far. @throws `store_corrupt` if damage in LMDB hides one */
  #importedRows(): SegmentRow[] {
    const { store } = this.#parts
    const rows = listSegmentRows(store)
    expectImportedEntries(store, rows)
    return rows
  }

  #putRows(rows: readonly SegmentRow[], entries: readonly KeyedEntry[]): ImportCounts {
    const { store, builder } = this.#parts
    for (const row of rows) putSegmentRow(store, builder, row)
    const payloadBytes = rows.reduce((sum, row) => sum + row.payloadBytes, this.#counts.payloadBytes)
    return { entries: this.#counts.entries + entries.length, payloadBytes }
  }
}
