import { Buffer } from 'node:buffer'
import type { BlockInfo } from '@ledger-state/core'
import type { LedgerSummary, StoreBase } from '@ledger-state/engine'
import { storeCorrupt } from '@ledger-state/engine/authoring'
import { openRecord, type RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { ReadOptions } from '../lmdb/table.js'
import { type LogFilePosition, NO_POSITION } from './log-position.js'

/** Describes the merged data, in one record, so that a reader sees all of it in one transaction. */
export interface LedgerRecord {
  /** The ledger. Its latest version is the newest that is merged; its oldest version may be above that. */
  readonly ledger: LedgerSummary
  readonly base: StoreBase
  /** Number of the first WAL file that is not merged completely. */
  readonly walFile: number
  /** Number of the first commit that is not merged. */
  readonly nextCommit: number
  /** Number of the next segment file. */
  readonly nextFile: number
  /** Number of segment files: rows of the database `segments`. */
  readonly files: number
  /** Number of blocks of the window in segment files. */
  readonly blocks: number
  /** Position up to which the newest WAL file was synced when a writer last closed the store. */
  readonly logEnd: LogFilePosition
}

/** Record of a store into which nothing is merged. */
export const NOTHING_MERGED = {
  nextFile: 0,
  files: 0,
  blocks: 0,
  logEnd: { fileNumber: 0, ...NO_POSITION },
} as const

// u64 chain id | u64 latest version | block | u64 oldest version | block | u64 base version | 5 × u64: `walFile` and
// the fields after it
// | end of the log: u64 file number, length, next commit, checksum | u8 1 for a complete base | u32 CRC; block = u64 height, epoch, time
const BASE_AT = 9
const COUNTERS_AT = 10
const LOG_END_AT = COUNTERS_AT + 5
const COMPLETE_AT = 8 * (LOG_END_AT + 4)
const LENGTH = COMPLETE_AT + 1

/** Key of the ledger record in the database `meta`. */
export const LEDGER_KEY = Buffer.from('ledger')

/** Reads the ledger record; undefined for a store without versions, and during an import. @throws `store_corrupt` */
export function getLedgerRecord(
  { meta }: Pick<LmdbStore, 'meta'>,
  options: ReadOptions = {},
): LedgerRecord | undefined {
  const record = meta.getBinary(LEDGER_KEY, options)
  return record && decodeLedgerRecord(record)
}

export function putLedgerRecord({ meta }: LmdbStore, builder: RecordBuilder, record: LedgerRecord): void {
  meta.putSync(LEDGER_KEY, encodeLedgerRecord(builder, record))
}

export function encodeLedgerRecord(builder: RecordBuilder, record: LedgerRecord): Uint8Array {
  const { ledger, base } = record
  addBlock(builder.begin().u64(ledger.chainId).u64(ledger.latestVersion), ledger.latestBlock)
  addBlock(builder.u64(ledger.oldestVersion), ledger.oldestBlock).u64(base.version)
  const { walFile, nextCommit, nextFile, files, blocks } = record
  for (const number of [walFile, nextCommit, nextFile, files, blocks]) builder.u64(BigInt(number))
  const { fileNumber, length, nextCommit: commitAtEnd, checksum } = record.logEnd
  for (const number of [fileNumber, length, commitAtEnd, checksum]) builder.u64(BigInt(number))
  return builder.u8(base.complete ? 1 : 0).seal(0)
}

/** Decodes a ledger record. @throws `store_corrupt` */
export function decodeLedgerRecord(record: Buffer): LedgerRecord {
  const content = openRecord(record, 0, () => 'the ledger record')
  if (content.length !== LENGTH) throw storeCorrupt(`the ledger record has ${content.length} bytes`)
  const number = (at: number) => content.readBigUInt64BE(at * 8)
  const counter = (at: number) => Number(number(COUNTERS_AT + at))
  const block = (at: number): BlockInfo => ({
    height: number(at),
    epoch: number(at + 1),
    timestampUsec: number(at + 2),
  })
  return {
    ledger: {
      chainId: number(0),
      latestVersion: number(1),
      latestBlock: block(2),
      oldestVersion: number(5),
      oldestBlock: block(6),
    },
    base: { version: number(BASE_AT), complete: content[COMPLETE_AT] === 1 },
    walFile: counter(0),
    nextCommit: counter(1),
    nextFile: counter(2),
    files: counter(3),
    blocks: counter(4),
    logEnd: { fileNumber: counter(5), length: counter(6), nextCommit: counter(7), checksum: counter(8) },
  }
}

/** Appends a block: u64 height | u64 epoch | u64 time. */
export function addBlock(builder: RecordBuilder, { height, epoch, timestampUsec }: BlockInfo): RecordBuilder {
  return builder.u64(height).u64(epoch).u64(timestampUsec)
}
