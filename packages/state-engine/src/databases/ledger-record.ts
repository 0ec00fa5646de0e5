import type { Buffer } from 'node:buffer'
import type { BlockInfo, LedgerInfo, StoreBase } from '@ledger-state/core'
import { type NumberedKey, numberedKeySeed, versionKey } from '../bytes/numbered-key.js'
import { openRecord, type RecordBuilder } from '../bytes/record.js'
import { storeCorrupt } from '../port/errors.js'

/** One record, so that a reader sees all of it from one commit. */
export interface LedgerRecord {
  readonly ledger: LedgerInfo
  readonly base: StoreBase
  /** The next key id to assign. */
  readonly nextKeyId: number
  /** The next id of a large value to assign. */
  readonly nextLargeId: number
  /** Records of the database `blocks`. */
  readonly blocks: number
  /** Records of the database `retired`. */
  readonly retired: number
  /** Superseded values in the log. */
  readonly supersededEntries: number
  /** Bytes of those values, and of all keys with their newest values. */
  readonly payloadBytes: number
}

// u8 chain id | u64 latest version | block | u64 oldest version | block | u64 next key id | u64 next large id
// | u64 blocks | u64 retired | u64 superseded entries | u64 payload bytes | u64 base version | u8 1 for a complete base
// | u64 chain id, only if it is above 255: then the first byte is 0 | u32 CRC; block = u64 height, epoch, time
const NUMBERS = 15
const BASE_COMPLETE_AT = 1 + 8 * NUMBERS
const WIDE_CHAIN_ID_AT = BASE_COMPLETE_AT + 1
const NARROW_LENGTH = WIDE_CHAIN_ID_AT
const WIDE_LENGTH = WIDE_CHAIN_ID_AT + 8
const MAX_NARROW_CHAIN_ID = 255n

export function encodeLedgerRecord(builder: RecordBuilder, record: LedgerRecord): Uint8Array {
  const { ledger } = record
  const { chainId } = ledger
  const isWide = chainId > MAX_NARROW_CHAIN_ID
  builder.begin().u8(isWide ? 0 : Number(chainId))
  addBlock(builder.u64(ledger.latestVersion), ledger.latestBlock)
  addBlock(builder.u64(ledger.oldestVersion), ledger.oldestBlock)
  const { nextKeyId, nextLargeId, blocks, retired, supersededEntries, payloadBytes } = record
  for (const number of [nextKeyId, nextLargeId, blocks, retired, supersededEntries, payloadBytes])
    builder.u64(BigInt(number))
  builder.u64(record.base.version).u8(record.base.complete ? 1 : 0)
  if (isWide) builder.u64(chainId)
  return builder.seal(0)
}

/** @throws `store_corrupt` */
export function decodeLedgerRecord(record: Buffer): LedgerRecord {
  const content = openRecord(record, 0, () => 'the ledger record')
  const isWide = content.length === WIDE_LENGTH
  if (!isWide && content.length !== NARROW_LENGTH) {
    throw storeCorrupt(`the ledger record has ${content.length} bytes`)
  }
  const number = (at: number) => content.readBigUInt64BE(1 + at * 8)
  const block = (at: number): BlockInfo => ({
    height: number(at),
    epoch: number(at + 1),
    timestampUsec: number(at + 2),
  })
  return {
    ledger: {
      chainId: isWide ? content.readBigUInt64BE(WIDE_CHAIN_ID_AT) : BigInt(content[0]!),
      latestVersion: number(0),
      latestBlock: block(1),
      oldestVersion: number(4),
      oldestBlock: block(5),
    },
    base: { version: number(14), complete: content[BASE_COMPLETE_AT] === 1 },
    nextKeyId: Number(number(8)),
    nextLargeId: Number(number(9)),
    blocks: Number(number(10)),
    retired: Number(number(11)),
    supersededEntries: Number(number(12)),
    payloadBytes: Number(number(13)),
  }
}

/** The block that starts at a version, in the database `blocks`: u64 height | u64 epoch | u64 time | u32 CRC. */
export function encodeBlock(builder: RecordBuilder, firstVersion: bigint, block: BlockInfo): Uint8Array {
  return addBlock(builder.begin(), block).seal(numberedKeySeed(versionKey(firstVersion, 0)))
}

/** @throws `store_corrupt` */
export function decodeBlock(key: NumberedKey, record: Buffer): BlockInfo {
  const content = openRecord(record, numberedKeySeed(key), () => 'a block record')
  if (content.length !== 24) throw storeCorrupt(`a block record has ${content.length} bytes`)
  const [height, epoch, timestampUsec] = [0, 8, 16].map((at) => content.readBigUInt64BE(at)) as [bigint, bigint, bigint]
  return { height, epoch, timestampUsec }
}

function addBlock(builder: RecordBuilder, { height, epoch, timestampUsec }: BlockInfo): RecordBuilder {
  return builder.u64(height).u64(epoch).u64(timestampUsec)
}
