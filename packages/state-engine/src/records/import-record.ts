import { Buffer } from 'node:buffer'
import { crc32 } from 'node:zlib'
import { storeCorrupt } from '@ledger-state/engine/authoring'
import { openRecord, type RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { ReadOptions } from '../lmdb/table.js'
import { decodeMark, encodeMark } from './mark.js'
import type { SegmentRow } from './segment-rows.js'

// While a state is imported, the database `meta` has:
//   importing → u64 version | u64 entries | u64 bytes of keys and values | u32 CRC
//   import-mark → the mark of the newest part, if it has one: bytes | u32 CRC
const IMPORTING_KEY = Buffer.from('importing')
const IMPORTING_SEED = crc32(IMPORTING_KEY)
const IMPORT_MARK_KEY = Buffer.from('import-mark')
const CONTENT_LENGTH = 8 * 3

export interface ImportCounts {
  readonly entries: number
  readonly payloadBytes: number
}

/** An import that was begun and not finished. */
export interface ImportRecord {
  readonly version: bigint
  readonly counts: ImportCounts
  readonly mark: Uint8Array | undefined
}

export function putImportRecord(
  { meta }: LmdbStore,
  builder: RecordBuilder,
  { version, counts: { entries, payloadBytes }, mark }: ImportRecord,
): void {
  builder.begin().u64(version).u64(BigInt(entries)).u64(BigInt(payloadBytes))
  meta.putSync(IMPORTING_KEY, builder.seal(IMPORTING_SEED))
  if (mark) meta.putSync(IMPORT_MARK_KEY, encodeMark(builder, mark))
  else meta.removeSync(IMPORT_MARK_KEY)
}

export function removeImportRecord({ meta }: LmdbStore): void {
  meta.removeSync(IMPORTING_KEY)
  meta.removeSync(IMPORT_MARK_KEY)
}

/** Reads the record of the import under way; undefined if there is none. @throws `store_corrupt` */
export function getImportRecord({ meta }: LmdbStore, options: ReadOptions = {}): ImportRecord | undefined {
  const bytes = meta.getBinary(IMPORTING_KEY, options)
  if (!bytes) return undefined
  const content = openRecord(bytes, IMPORTING_SEED, () => 'the record of an import')
  if (content.length !== CONTENT_LENGTH) throw storeCorrupt(`the record of an import has ${content.length} bytes`)
  const number = (at: number) => Number(content.readBigUInt64BE(at * 8))
  const mark = meta.getBinary(IMPORT_MARK_KEY, options)
  return {
    version: content.readBigUInt64BE(0),
    counts: { entries: number(1), payloadBytes: number(2) },
    mark: mark && decodeMark(mark),
  }
}

/**
 * Checks the files of a store without a ledger record: they have the entries of the import under way, and there are none
 * without an import. @throws `store_corrupt`
 */
export function expectImportedEntries(store: LmdbStore, rows: readonly SegmentRow[], options: ReadOptions = {}): void {
  const left = getImportRecord(store, options)
  if (!left && rows.length > 0) throw storeCorrupt('the store has segment files, but no ledger record')
  const wanted = left?.counts.entries ?? 0
  const found = rows.reduce((sum, { keys }) => sum + keys, 0)
  if (found !== wanted) throw storeCorrupt(`the segment files of the import have ${found} of ${wanted} entries`)
}
