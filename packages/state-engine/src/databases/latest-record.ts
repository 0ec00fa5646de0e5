import { CHECKSUM_LENGTH, type RecordBuilder } from '../bytes/record.js'
import { keySeed } from '../bytes/stored-key.js'
import { VersionList } from '../bytes/version-list.js'
import type { SharedRecord } from '../lmdb/shared-record.js'
import { storeCorrupt } from '../port/errors.js'
import { LARGE_REFERENCE_LENGTH, type LargeBytes } from './large-values.js'

// A record of the database `latest`, the newest write of a key:
//   u8 flags | u8 n | u48 key id | u64 version | n × u64 versions of older writes, ascending
//   | if LONG_KEY: reference to the key | if LARGE: reference to the value, unless DELETED: value | u32 CRC

export const DELETED = 1
/** The value is in the database `large`. */
export const LARGE = 2
/** The key is in the database `large`; its stored form has only its beginning and hash. */
export const LONG_KEY = 4
/** The version index has the versions of still older writes. */
export const INDEXED = 8

export const OLDER_AT = 16
/** Most versions of older writes that a record lists before they move to the version index. */
export const MAX_LISTED = 32
/** Up to this length a value stays in the record, which then fits into one page: reading it takes one get. */
export const MAX_INLINE_VALUE_LENGTH = 3_700

export type StoredValue = Uint8Array | LargeBytes | null

export interface LatestRecord {
  readonly keyId: number
  readonly version: bigint
  /** Versions of older writes that the index does not have. */
  readonly older: VersionList
  readonly indexed: boolean
  readonly longKey: LargeBytes | undefined
  /** A copy. */
  readonly value: StoredValue
}

export function isLarge(value: StoredValue): value is LargeBytes {
  return value !== null && !(value instanceof Uint8Array)
}

export function encodeLatest(builder: RecordBuilder, key: Uint8Array, latest: LatestRecord): Uint8Array {
  const { keyId, version, older, indexed, longKey, value } = latest
  const large = isLarge(value)
  builder
    .begin()
    .u8((value === null ? DELETED : 0) | (large ? LARGE : 0) | (longKey ? LONG_KEY : 0) | (indexed ? INDEXED : 0))
    .u8(older.count)
    .u48(keyId)
    .u64(version)
  if (older.count > 0) builder.bytes(older.bytes)
  if (longKey) builder.u48(longKey.id).u32(longKey.length)
  if (large) builder.u48(value.id).u32(value.length)
  else if (value) builder.bytes(value)
  return builder.seal(keySeed(key))
}

/** Offset of the part after the versions. @throws `store_corrupt` */
export function latestTail({ bytes, length }: SharedRecord): number {
  const at = OLDER_AT + 8 * bytes[1]!
  const references = bytes[0]! & LONG_KEY ? LARGE_REFERENCE_LENGTH : 0
  if (length < at + references + CHECKSUM_LENGTH) throw storeCorrupt('a record of the database latest is too short')
  return at
}

/** Decodes the record into a copy. */
export function decodeLatest(record: SharedRecord): LatestRecord {
  const { bytes, view, length } = record
  const flags = bytes[0]!
  let at = latestTail(record)
  const older = new VersionList(record.copy(OLDER_AT, at))
  let longKey: LargeBytes | undefined
  if (flags & LONG_KEY) {
    longKey = largeReference(record, at)
    at += LARGE_REFERENCE_LENGTH
  }
  const value =
    flags & DELETED ? null : flags & LARGE ? largeReference(record, at) : record.copy(at, length - CHECKSUM_LENGTH)
  const indexed = (flags & INDEXED) !== 0
  return { keyId: record.u48(2), version: view.getBigUint64(8), older, indexed, longKey, value }
}

export function largeReference(record: SharedRecord, at: number): LargeBytes {
  return { id: record.u48(at), length: record.view.getUint32(at + 6) }
}
