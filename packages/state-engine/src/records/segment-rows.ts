import { storeCorrupt } from '@ledger-state/engine/authoring'
import { openRecord, type RecordBuilder } from '../bytes/record.js'
import { rowKeySeed } from '../bytes/row-key.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { ReadOptions } from '../lmdb/table.js'
import type { LedgerRecord } from './ledger-record.js'

// The database `segments` has the files of merged writes:
//   u64 first version, u48 file number → u64 last version | u64 until | u8 level | u8 flags (1: a base) | u64 bytes of the
//     file | u64 writes | u64 keys | u64 bytes of keys and values | SHA-256 of the segment | u32 CRC

/** A segment file of a store. */
export interface SegmentRow {
  readonly firstVersion: bigint
  /** Number of the file. No number is used again. */
  readonly file: number
  readonly lastVersion: bigint
  /** Newest version that is left: a truncation has cut off those above. */
  readonly until: bigint
  readonly level: number
  readonly isBase: boolean
  readonly fileBytes: number
  readonly writes: number
  readonly keys: number
  readonly payloadBytes: number
  readonly sha256: Uint8Array
}

const BASE_FLAG = 1
const LENGTH = 8 + 8 + 1 + 1 + 4 * 8 + 32

export function putSegmentRow({ segments }: LmdbStore, builder: RecordBuilder, row: SegmentRow): void {
  builder
    .begin()
    .u64(row.lastVersion)
    .u64(row.until)
    .u8(row.level)
    .u8(row.isBase ? BASE_FLAG : 0)
  for (const number of [row.fileBytes, row.writes, row.keys, row.payloadBytes]) builder.u64(BigInt(number))
  segments.putSync(row, builder.bytes(row.sha256).seal(rowKeySeed(row)))
}

export function removeSegmentRow({ segments }: LmdbStore, row: SegmentRow): void {
  segments.removeSync(row)
}

/** Checks that the files have all versions that are merged: damage in LMDB may hide one. @throws `store_corrupt` */
export function expectAllVersions(rows: readonly SegmentRow[], { ledger, base, files }: LedgerRecord): void {
  let next: bigint | undefined
  let before: SegmentRow | undefined
  for (const row of rows) {
    const { firstVersion, isBase, until } = row
    const isPart = before !== undefined && firstVersion === before.firstVersion && until === before.until
    const isNext = next === undefined ? firstVersion <= base.version : isBase || isPart || firstVersion === next
    if (!isNext) throw versionsMissing(next ?? base.version)
    if (next === undefined || until >= next) next = until + 1n
    before = row
  }
  if (next !== ledger.latestVersion + 1n) throw versionsMissing(next ?? base.version)
  if (rows.length !== files) {
    throw storeCorrupt(`the database segments has ${rows.length} files, the ledger record counts ${files}`)
  }
}

function versionsMissing(first: bigint): Error {
  return storeCorrupt(`no segment file has version ${first}, which is merged`)
}

/** Lists the files, the oldest first. @throws `store_corrupt` */
export function listSegmentRows({ segments }: Pick<LmdbStore, 'segments'>, options: ReadOptions = {}): SegmentRow[] {
  return Array.from(segments.getRange({ start: undefined, end: undefined, ...options }), ({ key, value }) => {
    const content = openRecord(value, rowKeySeed(key), () => 'a record of the database segments')
    if (content.length !== LENGTH) throw storeCorrupt(`a record of the database segments has ${content.length} bytes`)
    const number = (at: number) => Number(content.readBigUInt64BE(18 + 8 * at))
    return {
      ...key,
      lastVersion: content.readBigUInt64BE(0),
      until: content.readBigUInt64BE(8),
      level: content[16]!,
      isBase: (content[17]! & BASE_FLAG) !== 0,
      fileBytes: number(0),
      writes: number(1),
      keys: number(2),
      payloadBytes: number(3),
      sha256: Buffer.from(content.subarray(50, 82)),
    }
  })
}
