import { Buffer } from 'node:buffer'
import type { LmdbStore } from './lmdb-store.js'
import { numberedKey, numberedKeySeed } from './numbered-key.js'
import { CHECKSUM_LENGTH, corrupt, MAX_RECORD_LENGTH, openRecord, type RecordBuilder } from './record.js'
import type { ReadOptions } from './table.js'

/** Bytes that are too long for a record, kept in pieces in the database `large`: (id, piece number) → bytes | u32 CRC. */
export interface LargeBytes {
  readonly id: number
  readonly length: number
}

/** u48 id | u32 length */
export const LARGE_REFERENCE_LENGTH = 10
/** A page of its own, for the bulk of what is long. */
const PAGE_PIECE_LENGTH = MAX_RECORD_LENGTH - CHECKSUM_LENGTH
/** The rest goes in equal pieces of a quarter of a page at most, so that pages are filled. */
const MAX_PIECE_LENGTH = 990

/** Offsets at which the pieces of so many bytes begin and end. */
function* pieceOffsets(length: number): Generator<readonly [start: number, end: number]> {
  const whole = Math.floor(length / PAGE_PIECE_LENGTH) * PAGE_PIECE_LENGTH
  for (let start = 0; start < whole; start += PAGE_PIECE_LENGTH) yield [start, start + PAGE_PIECE_LENGTH]
  const pieceLength = Math.ceil((length - whole) / Math.ceil((length - whole) / MAX_PIECE_LENGTH))
  for (let start = whole; start < length; start += pieceLength) yield [start, Math.min(length, start + pieceLength)]
}

export function putLarge({ large }: LmdbStore, builder: RecordBuilder, id: number, bytes: Uint8Array): void {
  let piece = 0
  for (const [start, end] of pieceOffsets(bytes.length)) {
    const key = numberedKey(id, piece++)
    const record = builder.begin().bytes(bytes.subarray(start, end)).seal(numberedKeySeed(key))
    large.putSync(key, record, { append: true })
  }
}

/** @throws `store_corrupt` */
export function readLarge({ large }: LmdbStore, { id, length }: LargeBytes, options: ReadOptions): Uint8Array {
  const bytes = Buffer.allocUnsafe(length)
  let piece = 0
  for (const [start, end] of pieceOffsets(length)) {
    const what = () => `piece ${piece} of the large value ${id}`
    const key = numberedKey(id, piece)
    const record = large.getBinary(key, options)
    if (!record) throw corrupt(`${what()} is missing`)
    const part = openRecord(record, numberedKeySeed(key), what)
    if (part.length !== end - start) throw corrupt(`${what()} has ${part.length} bytes`)
    bytes.set(part, start)
    piece++
  }
  return bytes
}

export function dropLarge({ large }: LmdbStore, { id, length }: LargeBytes): void {
  let piece = 0
  for (const _ of pieceOffsets(length)) large.removeSync(numberedKey(id, piece++))
}
