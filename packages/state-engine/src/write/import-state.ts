import { Buffer } from 'node:buffer'
import { crc32 } from 'node:zlib'
import type { KeyedEntry } from '@ledger-state/core'
import type { ImportBase, ImportOptions, StateImport, UnfinishedImport } from '@ledger-state/engine'
import {
  duplicateKey,
  expectObject,
  expectU64,
  importNeedsEmptyStore,
  importReplaced,
  storeCorrupt,
  validateImportBase,
  validateImportPart,
  valueToStored,
} from '@ledger-state/engine/authoring'
import { openRecord, type RecordBuilder } from '../bytes/record.js'
import { isLongKey } from '../bytes/stored-key.js'
import { storeCorruptErrors } from '../errors.js'
import { LEDGER_KEY, type LmdbStore, withStoreErrors } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import { SegmentFiles } from '../read/segment-slices.js'
import { appendBlocks } from '../records/block-lists.js'
import { putLarge } from '../records/large-values.js'
import { encodeLatest, MAX_INLINE_VALUE_LENGTH } from '../records/latest-record.js'
import { encodeLedgerRecord, type LedgerRecord, NOTHING_MERGED } from '../records/ledger-record.js'
import { decodeMark, encodeMark, putMark } from '../records/mark.js'
import { listSegmentRows, putSegmentRow, type SegmentRow } from '../records/segment-rows.js'
import { removeUnnamedSegments, segmentPath } from '../segments/segment-names.js'
import type { FollowingFile } from '../wal/appender.js'
import { writeImportedBlock, writeImportedPart } from './import-segments.js'
import type { WriterParts } from './writer-parts.js'

/** Keys of records of the database `meta` during an import. */
const IMPORTING_KEY = Buffer.from('importing')
const IMPORTING_SEED = crc32(IMPORTING_KEY)
const IMPORT_MARK_KEY = Buffer.from('import-mark')

interface ImportCounts {
  readonly entries: number
  readonly nextLargeId: number
  readonly payloadBytes: number
}

const NOTHING: ImportCounts = { entries: 0, nextLargeId: 0, payloadBytes: 0 }

/** Begins an import, or resumes one. @throws `store_not_empty`, `invalid_argument` */
export function beginImport(parts: WriterParts, version: bigint, options: ImportOptions = {}): StateImport {
  expectU64('the version of the import', version)
  expectObject('the options of the import', options)
  const { store, builder, transactions } = parts
  let left: ReturnType<typeof readUnfinished>
  let isDropped = false
  parts.expectOpen()
  transactions.runNow(store.durability, () => {
    if (store.meta.getBinary(LEDGER_KEY)) throw importNeedsEmptyStore()
    left = readUnfinished(store)
    if (left && (!options.resume || left.version !== version)) {
      dropUnfinishedImport(store)
      isDropped = true
      left = undefined
    }
    if (!left) putUnfinished(store, builder, version, NOTHING, undefined)
  })
  if (isDropped && store.segments) removeUnnamedSegments(store.path, new Set())
  parts.onChange()
  return new LmdbImport(parts, version, left?.counts ?? NOTHING, left?.mark)
}

/** Finds the import that was begun and not finished. */
export function unfinishedImport({ store, expectOpen }: WriterParts): UnfinishedImport | undefined {
  expectOpen()
  const left = readUnfinished(store)
  return left && { version: left.version, mark: left.mark }
}

/** Discards an unfinished import, within the transaction of the caller. */
export function dropUnfinishedImport({ meta, latest, large, segments }: LmdbStore): void {
  if (!meta.getBinary(IMPORTING_KEY)) return
  segments?.clearSync()
  latest.clearSync()
  large.clearSync()
  meta.removeSync(IMPORTING_KEY)
  meta.removeSync(IMPORT_MARK_KEY)
}

/** Checks that segment files have all entries of the import under way. @throws `store_corrupt` if they do not */
export function expectImportedEntries(store: LmdbStore, rows: readonly SegmentRow[]): void {
  const wanted = readUnfinished(store)?.counts.entries ?? 0
  const found = rows.reduce((sum, { keys }) => sum + keys, 0)
  if (found !== wanted) throw storeCorrupt(`the segment files of the import have ${found} of ${wanted} entries`)
}

class LmdbImport implements StateImport {
  readonly version: bigint
  #mark: Uint8Array | undefined
  readonly #parts: WriterParts
  readonly #shared = new SharedRecord()
  readonly #files: SegmentFiles
  #counts: ImportCounts

  constructor(parts: WriterParts, version: bigint, counts: ImportCounts, mark: Uint8Array | undefined) {
    this.#parts = parts
    this.#files = new SegmentFiles(parts.store)
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

  async add(entries: readonly KeyedEntry[], mark?: Uint8Array): Promise<void> {
    validateImportPart(this.version, entries, mark)
    const { store, builder, transactions, atFailpoint, expectOpen, onChange } = this.#parts
    let counts = this.#counts
    expectOpen()
    const rows = store.segments ? this.#writeFiles(entries) : []
    await transactions.run(store.durability, () => {
      this.#expectCurrent()
      counts = store.segments ? this.#putRows(rows, entries) : this.#put(entries)
      putUnfinished(store, builder, this.version, counts, mark)
      atFailpoint('import: part done')
    })
    onChange()
    this.#counts = counts
    // So that an import of many parts does not have many files open.
    await this.#parts.levelsSettled()
    this.#mark = mark && Uint8Array.from(mark)
  }

  async finish(base: ImportBase): Promise<void> {
    await this.#parts.inTurn(() => this.#finish(base))
    // An import leaves more files than others read at once.
    await this.#parts.levelsSettled()
  }

  async #finish(base: ImportBase): Promise<void> {
    const chainId = validateImportBase(this.version, base)
    const { block, mark, complete = true } = base
    const { version } = this
    const { store, builder, log, transactions, atFailpoint, expectOpen, onChange } = this.#parts
    const { nextLargeId, payloadBytes } = this.#counts
    const ledger = { chainId, latestVersion: version, latestBlock: block, oldestVersion: version, oldestBlock: block }
    expectOpen()
    const blockRow = store.segments && writeImportedBlock(store, version, block, this.#parts.numbers.take())
    const finish = ({ walFile, nextCommit }: FollowingFile) =>
      // Commits in that file need what this transaction wrote.
      transactions.runNow(transactions.ofLog, () => {
        this.#expectCurrent()
        const { meta } = store
        const record: { -readonly [Field in keyof LedgerRecord]: LedgerRecord[Field] } = {
          ledger,
          base: { version, complete },
          walFile,
          nextCommit,
          ...NOTHING_MERGED,
          nextLargeId,
          blocks: store.segments ? 1 : appendBlocks(store, builder, [{ firstVersion: version, block }]),
          payloadBytes,
        }
        if (blockRow) {
          record.garbageRecords = this.#importedRows().length + 1
          record.nextGeneration = blockRow.file + 1
          putSegmentRow(store, builder, blockRow)
        }
        meta.putSync(LEDGER_KEY, encodeLedgerRecord(builder, record))
        putMark(store, builder, mark)
        meta.removeSync(IMPORTING_KEY)
        meta.removeSync(IMPORT_MARK_KEY)
        atFailpoint('import: before it counts')
      })
    await transactions.inTurn(() => log.bypass(1, 'import: done', finish))
    this.#files.keep([])
    onChange()
  }

  /** Checks that no other import, and no commit, has discarded this one. */
  #expectCurrent(): void {
    const left = readUnfinished(this.#parts.store)
    if (left?.version === this.version && left.counts.entries === this.#counts.entries) return
    throw importReplaced(this.version)
  }

  #writeFiles(entries: readonly KeyedEntry[]): SegmentRow[] {
    const { store, numbers } = this.#parts
    this.#expectCurrent()
    return withStoreErrors(store.path, () => {
      const slices = this.#files.take(this.#importedRows())
      if (typeof slices === 'number')
        throw storeCorruptErrors.segmentDamaged(segmentPath(store.path, slices), 0, 'the file is missing')
      this.#files.keep(slices)
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
    return { entries: this.#counts.entries + entries.length, nextLargeId: 0, payloadBytes }
  }

  #put(entries: readonly KeyedEntry[]): ImportCounts {
    const { store, builder } = this.#parts
    const { latest } = store
    let { nextLargeId, payloadBytes } = this.#counts
    const putInPieces = (bytes: Uint8Array) => {
      const id = nextLargeId++
      putLarge(store, builder, id, bytes)
      return { id, length: bytes.length }
    }
    for (const { key, version, value, annotation } of entries) {
      if (this.#shared.load(latest, key, {})) throw duplicateKey(this.version)
      const longKey = isLongKey(key) ? putInPieces(key) : undefined
      const stored = valueToStored(value, annotation)
      payloadBytes += key.length + stored.length
      const placed = stored.length > MAX_INLINE_VALUE_LENGTH ? putInPieces(stored) : stored
      latest.putSync(key, encodeLatest(builder, key, { version, fences: [], longKey, value: placed }))
    }
    return { entries: this.#counts.entries + entries.length, nextLargeId, payloadBytes }
  }
}

// u64 version | u64 entries | u64 next large id | u64 payload bytes | u32 CRC
const CONTENT_LENGTH = 8 * 4

function putUnfinished(
  { meta }: LmdbStore,
  builder: RecordBuilder,
  version: bigint,
  { entries, nextLargeId, payloadBytes }: ImportCounts,
  mark: Uint8Array | undefined,
): void {
  builder.begin().u64(version)
  for (const number of [entries, nextLargeId, payloadBytes]) builder.u64(BigInt(number))
  meta.putSync(IMPORTING_KEY, builder.seal(IMPORTING_SEED))
  if (mark) meta.putSync(IMPORT_MARK_KEY, encodeMark(builder, mark))
  else meta.removeSync(IMPORT_MARK_KEY)
}

function readUnfinished({ meta }: LmdbStore) {
  const bytes = meta.getBinary(IMPORTING_KEY)
  if (!bytes) return undefined
  const content = openRecord(bytes, IMPORTING_SEED, () => 'the record of an import')
  if (content.length !== CONTENT_LENGTH) throw storeCorrupt(`the record of an import has ${content.length} bytes`)
  const number = (at: number) => Number(content.readBigUInt64BE(at * 8))
  const mark = meta.getBinary(IMPORT_MARK_KEY)
  return {
    version: content.readBigUInt64BE(0),
    counts: { entries: number(1), nextLargeId: number(2), payloadBytes: number(3) },
    mark: mark && decodeMark(mark),
  }
}
