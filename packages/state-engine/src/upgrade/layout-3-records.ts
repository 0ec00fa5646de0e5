import type { Buffer } from 'node:buffer'
import type { BlockInfo, LedgerInfo, StoreBase } from '@ledger-state/core'
import { openRecord } from '../bytes/record.js'
import { storedKeySeed } from '../bytes/stored-key.js'
import { LARGE_REFERENCE_LENGTH, type LargeBytes } from '../databases/large-values.js'
import { storeCorrupt } from '../port/errors.js'

// The records of layout 3 that an upgrade reads: docs/storage-layout-3.md.

const [DELETED, LARGE, LONG_KEY, INDEXED] = [1, 2, 4, 8]
const VERSION_AT = 8
const OLDER_AT = 16

export type Layout3Value = Uint8Array | LargeBytes | null

/** The record of a key in the database `latest`; what it refers to is read where it is needed. */
export interface Layout3Key {
  /** The stored form of the key. */
  readonly stored: Uint8Array
  readonly keyId: number
  /** Of the newest write. */
  readonly version: bigint
  /** Versions of older writes, ascending, without those in the version index. */
  readonly older: readonly bigint[]
  readonly isIndexed: boolean
  readonly longKey: LargeBytes | undefined
  /** Of the newest write. */
  readonly value: Layout3Value
}

/** The version of the newest write, of a record that is not verified. */
export function newestVersion(record: Buffer): bigint {
  if (record.length < OLDER_AT) throw storeCorrupt('a record of the database latest is too short')
  return record.readBigUInt64BE(VERSION_AT)
}

/** @throws `store_corrupt` */
export function decodeKey(stored: Uint8Array, record: Buffer): Layout3Key {
  const content = openRecord(record, storedKeySeed(stored), () => 'a record of the database latest')
  const [flags = 0, count = 0] = content
  let at = OLDER_AT + 8 * count
  const references = (flags & LONG_KEY ? 1 : 0) + (flags & LARGE ? 1 : 0)
  if (content.length < at + references * LARGE_REFERENCE_LENGTH) {
    throw storeCorrupt('a record of the database latest is too short')
  }
  const older = decodeVersions(content.subarray(OLDER_AT, at))
  let longKey: LargeBytes | undefined
  if (flags & LONG_KEY) {
    longKey = decodeReference(content, at)
    at += LARGE_REFERENCE_LENGTH
  }
  return {
    stored,
    keyId: content.readUIntBE(2, 6),
    version: newestVersion(content),
    older,
    isIndexed: (flags & INDEXED) !== 0,
    longKey,
    value: decodeValue(flags, content, at),
  }
}

/** What a version superseded, without the checksum. */
export function decodeSuperseded(content: Buffer): Layout3Value {
  const [flags = 0] = content
  if (content.length < 1 + (flags & LARGE ? LARGE_REFERENCE_LENGTH : 0)) throw storeCorrupt('a log entry is too short')
  return decodeValue(flags, content, 1)
}

function decodeValue(flags: number, content: Buffer, at: number): Layout3Value {
  if (flags & DELETED) return null
  return flags & LARGE ? decodeReference(content, at) : content.subarray(at)
}

function decodeReference(content: Buffer, at: number): LargeBytes {
  return { id: content.readUIntBE(at, 6), length: content.readUInt32BE(at + 6) }
}

/** Versions of 8 bytes each. */
export function decodeVersions(bytes: Buffer): bigint[] {
  return Array.from({ length: bytes.length >> 3 }, (_, at) => bytes.readBigUInt64BE(8 * at))
}

export interface Layout3Ledger {
  readonly ledger: LedgerInfo
  readonly base: StoreBase
  readonly blocks: number
  /** Values in the log. */
  readonly supersededEntries: number
}

// u8 chain id | u64 latest version | block | u64 oldest version | block | u64 next key id | u64 next large id | u64 blocks
// | u64 retired | u64 superseded entries | u64 payload bytes | u64 base version | u8 1 for a complete base
// | u64 chain id, only if it is above 255
const BASE_COMPLETE_AT = 1 + 8 * 15
const NARROW_LENGTH = BASE_COMPLETE_AT + 1
const WIDE_LENGTH = NARROW_LENGTH + 8

/** @throws `store_corrupt` */
export function decodeLedger(record: Buffer): Layout3Ledger {
  const content = openRecord(record, 0, () => 'the ledger record')
  const isWide = content.length === WIDE_LENGTH
  if (!isWide && content.length !== NARROW_LENGTH) throw storeCorrupt(`the ledger record has ${content.length} bytes`)
  const number = (at: number) => content.readBigUInt64BE(1 + 8 * at)
  return {
    ledger: {
      chainId: isWide ? content.readBigUInt64BE(NARROW_LENGTH) : BigInt(content[0]!),
      latestVersion: number(0),
      latestBlock: decodeBlock(content.subarray(9)),
      oldestVersion: number(4),
      oldestBlock: decodeBlock(content.subarray(41)),
    },
    base: { version: number(14), complete: content[BASE_COMPLETE_AT] === 1 },
    blocks: Number(number(10)),
    supersededEntries: Number(number(12)),
  }
}

/** @throws `store_corrupt` */
export function decodeBlock(content: Buffer): BlockInfo {
  if (content.length < 24) throw storeCorrupt(`a block record has ${content.length} bytes`)
  const [height, epoch, timestampUsec] = [0, 8, 16].map((at) => content.readBigUInt64BE(at)) as [bigint, bigint, bigint]
  return { height, epoch, timestampUsec }
}
