import { Buffer } from 'node:buffer'
import { storeCorrupt } from '@ledger-state/engine/authoring'
import { numberedKey, numberedKeySeed } from '../bytes/numbered-key.js'
import { CHECKSUM_LENGTH, MAX_RECORD_LENGTH, type RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import type { ReadOptions } from '../lmdb/table.js'

/**
 * Reference to bytes that are too long for one record. They are kept in pieces in the database `large`: (id, piece
 * number) → bytes | u32 CRC.
 */
export interface LargeBytes {
  readonly id: number
  readonly length: number
}

/** Length of an encoded reference: u48 id | u32 length. */
export const LARGE_REFERENCE_LENGTH = 10

/** Length of a piece that fills a page. */
export const PAGE_PIECE_LENGTH = MAX_RECORD_LENGTH - CHECKSUM_LENGTH
/**
 * Longest of the pieces, all equal, into which the rest is divided: at most a quarter of a page, so that pages are
 * filled.
 */
export const MAX_PIECE_LENGTH = 990

interface Pieces {
  /** Number of bytes in pieces that fill a page each. */
  readonly paged: number
  /** Length of each further piece; the last may be shorter. */
  readonly pieceLength: number
}

function piecesOf(length: number): Pieces {
  const paged = length - (length % PAGE_PIECE_LENGTH)
  const rest = length - paged
  return { paged, pieceLength: Math.ceil(rest / Math.ceil(rest / MAX_PIECE_LENGTH)) }
}

function pieceEnd({ paged, pieceLength }: Pieces, start: number, length: number): number {
  return start < paged ? start + PAGE_PIECE_LENGTH : Math.min(length, start + pieceLength)
}

export function putLarge({ large }: LmdbStore, builder: RecordBuilder, id: number, bytes: Uint8Array): void {
  const pieces = piecesOf(bytes.length)
  for (let start = 0, piece = 0; start < bytes.length; piece++) {
    const end = pieceEnd(pieces, start, bytes.length)
    const key = numberedKey(id, piece)
    const record = builder.begin().bytes(bytes.subarray(start, end)).seal(numberedKeySeed(key))
    large.putSync(key, record, { append: true })
    start = end
  }
}

/** Reads a large value. @throws `store_corrupt` */
export function readLarge(
  { large, verifyReads }: Pick<LmdbStore, 'large' | 'verifyReads'>,
  { id, length }: LargeBytes,
  options: ReadOptions,
): Uint8Array {
  const bytes = Buffer.allocUnsafe(length)
  const record = new SharedRecord()
  const pieces = piecesOf(length)
  for (let start = 0, piece = 0; start < length; piece++) {
    const end = pieceEnd(pieces, start, length)
    const key = numberedKey(id, piece)
    if (!record.load(large, key, options) || record.length !== end - start + CHECKSUM_LENGTH) {
      throw storeCorrupt(`piece ${piece} of the large value ${id} is missing or has another length`)
    }
    if (verifyReads) record.verify(numberedKeySeed(key))
    bytes.set(new Uint8Array(record.bytes.buffer, record.bytes.byteOffset, end - start), start)
    start = end
  }
  return bytes
}

/** Drops a large value. Returns the number of its pieces. */
export function dropLarge({ large }: LmdbStore, { id, length }: LargeBytes): number {
  const pieces = piecesOf(length)
  let piece = 0
  for (let start = 0; start < length; piece++) {
    large.removeSync(numberedKey(id, piece))
    start = pieceEnd(pieces, start, length)
  }
  return piece
}
