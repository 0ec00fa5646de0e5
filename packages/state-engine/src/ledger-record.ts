import { Buffer } from 'node:buffer'
import type { BlockInfo, LedgerInfo } from '@ledger-state/core'
import { corrupt } from './records.js'

/** One record, so that a reader sees all of it from one commit. */
export interface LedgerRecord {
  readonly ledger: LedgerInfo
  /** Key ids below this one were given out. */
  readonly nextKeyId: number
}

// u8 chain id | u64 latest version | block | u64 oldest version | block | u64 next key id; block = u64 height, epoch, time
const LENGTH = 1 + 8 * 9

export function encodeLedgerRecord({ ledger, nextKeyId }: LedgerRecord): Buffer {
  const record = Buffer.allocUnsafe(LENGTH)
  record[0] = ledger.chainId
  const numbers = [
    ledger.latestVersion,
    ...blockNumbers(ledger.latestBlock),
    ledger.oldestVersion,
    ...blockNumbers(ledger.oldestBlock),
    BigInt(nextKeyId),
  ]
  for (const [at, number] of numbers.entries()) record.writeBigUInt64BE(number, 1 + at * 8)
  return record
}

export function decodeLedgerRecord(record: Buffer): LedgerRecord {
  if (record.length !== LENGTH) throw corrupt(`the ledger record has ${record.length} bytes`)
  const number = (at: number) => record.readBigUInt64BE(1 + at * 8)
  const block = (at: number): BlockInfo => ({
    height: number(at),
    epoch: number(at + 1),
    timestampUsec: number(at + 2),
  })
  return {
    ledger: {
      chainId: record[0]!,
      latestVersion: number(0),
      latestBlock: block(1),
      oldestVersion: number(4),
      oldestBlock: block(5),
    },
    nextKeyId: Number(number(8)),
  }
}

/** The block that starts at a version, in the database `blocks`. */
export function encodeBlock(block: BlockInfo): Buffer {
  const record = Buffer.allocUnsafe(24)
  for (const [at, number] of blockNumbers(block).entries()) record.writeBigUInt64BE(number, at * 8)
  return record
}

export function decodeBlock(record: Buffer): BlockInfo {
  if (record.length !== 24) throw corrupt(`a block record has ${record.length} bytes`)
  const [height, epoch, timestampUsec] = [0, 8, 16].map((at) => record.readBigUInt64BE(at)) as [bigint, bigint, bigint]
  return { height, epoch, timestampUsec }
}

function blockNumbers({ height, epoch, timestampUsec }: BlockInfo): bigint[] {
  return [height, epoch, timestampUsec]
}
