import { Buffer } from 'node:buffer'
import { crc32 } from 'node:zlib'
import { LedgerStateError } from '@ledger-state/core'
import { openRecord, type RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { ReadOptions } from '../lmdb/table.js'

/** What the writer marked the newest commit with, in the database `meta`: bytes | u32 CRC. */
const MARK_KEY = Buffer.from('mark')
const MARK_SEED = crc32(MARK_KEY)

export const MAX_MARK_LENGTH = 65_536

export function putMark({ meta }: LmdbStore, builder: RecordBuilder, mark: Uint8Array | undefined): void {
  if (mark) meta.putSync(MARK_KEY, encodeMark(builder, mark))
  else meta.removeSync(MARK_KEY)
}

/** @throws `store_corrupt` */
export function getMark({ meta }: LmdbStore, options: ReadOptions): Uint8Array | undefined {
  const record = meta.getBinary(MARK_KEY, options)
  return record && decodeMark(record)
}

export function encodeMark(builder: RecordBuilder, mark: Uint8Array): Uint8Array {
  return builder.begin().bytes(mark).seal(MARK_SEED)
}

export function decodeMark(record: Buffer): Uint8Array {
  return openRecord(record, MARK_SEED, () => 'the mark of the newest commit')
}

/** @throws `invalid_argument` */
export function validateMark(mark: Uint8Array | undefined): void {
  if (mark === undefined || (mark instanceof Uint8Array && mark.length <= MAX_MARK_LENGTH)) return
  throw new LedgerStateError('invalid_argument', `a mark is bytes, at most ${MAX_MARK_LENGTH} of them`)
}
