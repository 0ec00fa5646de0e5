import type { Buffer } from 'node:buffer'
import type { BlockInfo, LedgerInfo, StoreBase } from '@ledger-state/core'
import { type NumberedKey, numberedKeySeed, versionKey } from '../bytes/numbered-key.js'
import { corrupt, openRecord, type RecordBuilder } from '../bytes/record.js'

/** One record, so that a reader sees all of it from one commit. */
export interface LedgerRecord {
  readonly ledger: LedgerInfo
  readonly base: StoreBase
  /** Key ids below this one were given out. */
  readonly nextKeyId: number
  /** Ids of large values below this one were given out. */
  readonly nextLargeId: number
  /** Records of the database `blocks`. */
  readonly blocks: number
  /** Records of the database `retired`. */
  readonly retired: number
  /** Superseded values in the log. */
  readonly supersededEntries: number
  /** Bytes of those values, and of the keys and values that are the newest. */
  readonly payloadBytes: number
}

// u8 chain id | u64 latest version | block | u64 oldest version | block | u64 next key id | u64 next large id
// | u64 blocks | u64 retired | u64 superseded entries | u64 payload bytes | u64 base version | u8 1 for a complete base
// | u32 CRC; block = u64 height, epoch, time
const NUMBERS = 15
const CONTENT_LENGTH = 1 + 8 * NUMBERS + 1

export function encodeLedgerRecord(builder: RecordBuilder, record: LedgerRecord): Uint8Array {
  const { ledger } = record
  builder.begin().u8(Number(ledger.chainId))
  addBlock(builder.u64(ledger.latestVersion), ledger.latestBlock)
  addBlock(builder.u64(ledger.oldestVersion), ledger.oldestBlock)
  const { nextKeyId, nextLargeId, blocks, retired, supersededEntries, payloadBytes } = record
  for (const number of [nextKeyId, nextLargeId, blocks, retired, supersededEntries, payloadBytes])
    builder.u64(BigInt(number))
  return builder
    .u64(record.base.version)
    .u8(record.base.complete ? 1 : 0)
    .seal(0)
}

/** @throws `store_corrupt` */
export function decodeLedgerRecord(record: Buffer): LedgerRecord {
  const content = openRecord(record, 0, () => 'the ledger record')
  if (content.length !== CONTENT_LENGTH) throw corrupt(`the ledger record has ${content.length} bytes`)
  const number = (at: number) => content.readBigUInt64BE(1 + at * 8)
  const block = (at: number): BlockInfo => ({
    height: number(at),
    epoch: number(at + 1),
    timestampUsec: number(at + 2),
  })
  return {
    ledger: {
      chainId: BigInt(content[0]!),
      latestVersion: number(0),
      latestBlock: block(1),
      oldestVersion: number(4),
      oldestBlock: block(5),
    },
    base: { version: number(14), complete: content[CONTENT_LENGTH - 1] === 1 },
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
  if (content.length !== 24) throw corrupt(`a block record has ${content.length} bytes`)
  const [height, epoch, timestampUsec] = [0, 8, 16].map((at) => content.readBigUInt64BE(at)) as [bigint, bigint, bigint]
  return { height, epoch, timestampUsec }
}

function addBlock(builder: RecordBuilder, { height, epoch, timestampUsec }: BlockInfo): RecordBuilder {
  return builder.u64(height).u64(epoch).u64(timestampUsec)
}
