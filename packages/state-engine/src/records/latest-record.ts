import { storeCorrupt } from '@ledger-state/engine/authoring'
import { CHECKSUM_LENGTH, type RecordBuilder } from '../bytes/record.js'
import { keySeed } from '../bytes/stored-key.js'
import type { SharedRecord } from '../lmdb/shared-record.js'
import { addFence, FENCE_LENGTH, type Fence, readFences } from './fences.js'
import { LARGE_REFERENCE_LENGTH, type LargeBytes } from './large-values.js'

// A record of the database `latest`, the newest merged write of a key:
//   u8 flags | u8 n | u64 version | n × fence, ascending
//   | if LONG_KEY: reference to the key | if LARGE: reference to the value, unless DELETED: value | u32 CRC

export const DELETED = 1
/** Flag: the value is in the database `large`. */
export const LARGE = 2
/** Flag: the key is in the database `large`. The stored form of the key has only its beginning and hash. */
export const LONG_KEY = 4

export const FENCES_AT = 10
/** Most fences of a record; more are moved into nodes. */
export const MAX_FENCES = 24
/** Longest value that stays in the record. The record then fits into one page, so reading it takes one get. */
export const MAX_INLINE_VALUE_LENGTH = 3_680

export type LatestValue = Uint8Array | LargeBytes | null

export interface LatestRecord {
  readonly version: bigint
  readonly fences: readonly Fence[]
  readonly longKey: LargeBytes | undefined
  /** The value, as a copy. */
  readonly value: LatestValue
}

export function isLarge(value: LatestValue): value is LargeBytes {
  return value !== null && !(value instanceof Uint8Array)
}

export function encodeLatest(builder: RecordBuilder, key: Uint8Array, latest: LatestRecord): Uint8Array {
  const { version, fences, longKey, value } = latest
  const large = isLarge(value)
  builder
    .begin()
    .u8((value === null ? DELETED : 0) | (large ? LARGE : 0) | (longKey ? LONG_KEY : 0))
    .u8(fences.length)
    .u64(version)
  for (const fence of fences) addFence(builder, fence)
  if (longKey) builder.u48(longKey.id).u32(longKey.length)
  if (large) builder.u48(value.id).u32(value.length)
  else if (value) builder.bytes(value)
  return builder.seal(keySeed(key))
}

/** Offset of the part after the fences. @throws `store_corrupt` */
export function latestTail({ bytes, length }: SharedRecord): number {
  const at = FENCES_AT + FENCE_LENGTH * bytes[1]!
  const references = bytes[0]! & LONG_KEY ? LARGE_REFERENCE_LENGTH : 0
  if (length < at + references + CHECKSUM_LENGTH) throw storeCorrupt('a record of the database latest is too short')
  return at
}

/** Decodes the record into a copy. */
export function decodeLatest(record: SharedRecord): LatestRecord {
  const { bytes, view, length } = record
  const flags = bytes[0]!
  let at = latestTail(record)
  const fences = readFences(record, FENCES_AT, bytes[1]!)
  let longKey: LargeBytes | undefined
  if (flags & LONG_KEY) {
    longKey = largeReference(record, at)
    at += LARGE_REFERENCE_LENGTH
  }
  const value =
    flags & DELETED ? null : flags & LARGE ? largeReference(record, at) : record.copy(at, length - CHECKSUM_LENGTH)
  return { version: view.getBigUint64(2), fences, longKey, value }
}

export function largeReference(record: SharedRecord, at: number): LargeBytes {
  return { id: record.u48(at), length: record.view.getUint32(at + 6) }
}
