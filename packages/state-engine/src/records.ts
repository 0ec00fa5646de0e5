import { Buffer } from 'node:buffer'
import { LedgerStateError } from '@ledger-state/core'
import { isLongKey } from './stored-key.js'

// Numbers in records are big-endian, so that keys made of them sort by value.

const DELETED = 1
const LONG_KEY = 2

/**
 * The newest write of a key, in the database `latest`:
 * u8 flags | u64 version | u48 key id | if LONG_KEY: u32 length, key | value
 */
export interface LatestRecord {
  readonly keyId: number
  readonly version: bigint
  /** A copy, in memory of its own; null for a deletion. */
  readonly value: Uint8Array | null
}

const LATEST_HEADER = 15

export function encodeLatest(key: Uint8Array, { keyId, version, value }: LatestRecord): Buffer {
  const long = isLongKey(key)
  const valueAt = LATEST_HEADER + (long ? 4 + key.length : 0)
  const record = Buffer.allocUnsafe(valueAt + (value?.length ?? 0))
  record[0] = (value ? 0 : DELETED) | (long ? LONG_KEY : 0)
  record.writeBigUInt64BE(version, 1)
  record.writeUIntBE(keyId, 9, 6)
  if (long) {
    record.writeUInt32BE(key.length, LATEST_HEADER)
    record.set(key, LATEST_HEADER + 4)
  }
  if (value) record.set(value, valueAt)
  return record
}

/**
 * LMDB reads into one buffer that it uses again for the next read, and whose `length` alone tells how much of it counts:
 * of its methods only a few keep to that, `slice` of typed arrays among them.
 */
function copyBytes(shared: Uint8Array, start: number, end: number): Uint8Array {
  return Uint8Array.prototype.slice.call(shared, start, end)
}

/**
 * The record of `key`, taken out of LMDB's shared buffer; undefined where it is another key's whose stored form is the
 * same.
 */
export function decodeLatest(key: Uint8Array, record: Buffer): LatestRecord | undefined {
  if (record.length < LATEST_HEADER) throw corrupt('a latest record is too short')
  const flags = record[0]!
  let valueAt = LATEST_HEADER
  if (flags & LONG_KEY) {
    valueAt += 4 + record.readUInt32BE(LATEST_HEADER)
    if (Buffer.compare(copyBytes(record, LATEST_HEADER + 4, valueAt), key) !== 0) return undefined
  }
  return {
    keyId: record.readUIntBE(9, 6),
    version: record.readBigUInt64BE(1),
    value: flags & DELETED ? null : copyBytes(record, valueAt, record.length),
  }
}

/** Version and deletion mark of a latest record, whatever its key. */
export function latestRecordState(record: Buffer): { version: bigint; deleted: boolean } {
  return { version: record.readBigUInt64BE(1), deleted: (record[0]! & DELETED) !== 0 }
}

/** Key in the database `history`: u48 key id | u64 version that superseded the value. */
export function encodeHistoryKey(keyId: number, supersededBy: bigint): Buffer {
  const key = Buffer.allocUnsafe(HISTORY_KEY_LENGTH)
  key.writeUIntBE(keyId, 0, 6)
  key.writeBigUInt64BE(supersededBy, 6)
  return key
}

export const HISTORY_KEY_LENGTH = 14

export function historyKeyId(key: Uint8Array): number {
  return Buffer.from(key.buffer, key.byteOffset, key.length).readUIntBE(0, 6)
}

/** Value in the database `history`: u64 version that wrote it | value. Deletions leave no entry. */
export function encodeHistory(version: bigint, value: Uint8Array): Buffer {
  const record = Buffer.allocUnsafe(8 + value.length)
  record.writeBigUInt64BE(version, 0)
  record.set(value, 8)
  return record
}

export function decodeHistory(record: Buffer): { version: bigint; value: Uint8Array } {
  if (record.length < 8) throw corrupt('a history record is too short')
  return { version: record.readBigUInt64BE(0), value: record.subarray(8) }
}

export function encodeVersion(version: bigint): Buffer {
  const key = Buffer.allocUnsafe(8)
  key.writeBigUInt64BE(version)
  return key
}

export function decodeVersion(key: Uint8Array): bigint {
  return Buffer.from(key.buffer, key.byteOffset, key.length).readBigUInt64BE(0)
}

export function corrupt(why: string): LedgerStateError {
  return new LedgerStateError('store_corrupt', `the store is damaged: ${why}`)
}
