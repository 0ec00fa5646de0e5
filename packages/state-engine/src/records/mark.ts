import { Buffer } from 'node:buffer'
import { crc32 } from 'node:zlib'
import { openRecord, type RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { ReadOptions } from '../lmdb/table.js'

/** Key of the mark of the newest commit in the database `meta`: bytes | u32 CRC. */
const MARK_KEY = Buffer.from('mark')
const MARK_SEED = crc32(MARK_KEY)

export function putMark({ meta }: LmdbStore, builder: RecordBuilder, mark: Uint8Array | undefined): void {
  if (mark) meta.putSync(MARK_KEY, encodeMark(builder, mark))
  else meta.removeSync(MARK_KEY)
}

/** Reads the mark of the newest merged commit. @throws `store_corrupt` */
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
