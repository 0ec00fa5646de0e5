import { storeCorrupt } from '@ledger-state/engine/authoring'
import { CHECKSUM_LENGTH, type RecordBuilder } from '../bytes/record.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import { CHUNK_LEVEL, PAIR_LENGTH, PAIRS_AT, runCount, TRANSPOSED } from './run-record.js'

// A chunk of the database `run` whose values have one length, in the form that compresses best:
//   u8 128 | u8 m | u64 version of the first pair | byte 0 of m rows | byte 1 of m rows | … | u32 CRC
//     row: u32 version less that of the pair before, 0 for the first | value
// What does not change from pair to pair is a run of one byte.

const ROWS_AT = 10
const VERSION_LENGTH = 4
/** A record of this length, if it does not compress, fills a page alone. */
const MAX_LENGTH = 4_000
const U32 = 2 ** 32

export function isTransposed({ bytes }: SharedRecord): boolean {
  return bytes[0] === TRANSPOSED
}

/** How many pairs with values of a length a transposed chunk has at most. */
export function mostTransposedPairs(valueLength: number): number {
  return Math.floor((MAX_LENGTH - ROWS_AT - CHECKSUM_LENGTH) / (VERSION_LENGTH + valueLength))
}

/** Begins a chunk with rows that follow each other in some bytes. */
export function beginTransposed(
  builder: RecordBuilder,
  count: number,
  firstHigh: number,
  firstLow: number,
  rows: Uint8Array,
): void {
  builder.begin().u8(TRANSPOSED).u8(count).u32(firstHigh).u32(firstLow)
  transpose(rows, 0, count, rows.length / count, builder.room(rows.length))
}

/** Begins a chunk with the first pairs of another. */
export function beginCutTransposed(builder: RecordBuilder, record: SharedRecord, left: number): void {
  const count = runCount(record)
  const columns = rowLength(record)
  builder.begin().u8(TRANSPOSED).u8(left).part(record.bytes, 2, ROWS_AT)
  for (let column = 0; column < columns; column++) {
    const at = ROWS_AT + column * count
    builder.part(record.bytes, at, at + left)
  }
}

/** The same chunk in the form of `run-record.ts`: the record itself, or a copy that has no checksum. @throws `store_corrupt` */
export function toPlainChunk(record: SharedRecord): SharedRecord {
  if (!isTransposed(record)) return record
  const count = runCount(record)
  const columns = rowLength(record)
  const valueLength = columns - VERSION_LENGTH
  const rows = new Uint8Array(columns * count)
  transpose(record.bytes, ROWS_AT, columns, count, rows)
  const valuesAt = PAIRS_AT + PAIR_LENGTH * count
  const plain = SharedRecord.over(new Uint8Array(valuesAt + valueLength * count + CHECKSUM_LENGTH))
  const { bytes, view } = plain
  bytes[0] = CHUNK_LEVEL
  bytes[1] = count
  bytes.set(record.copy(2, ROWS_AT), 2)
  const versions = new DataView(rows.buffer, rows.byteOffset)
  let version = 0
  for (let pair = 0; pair < count; pair++) {
    const at = PAIRS_AT + PAIR_LENGTH * pair
    version += versions.getUint32(columns * pair)
    view.setUint32(at, version)
    view.setUint16(at + 4, (valueLength * (pair + 1)) << 2)
    const row = columns * pair
    bytes.set(rows.subarray(row + VERSION_LENGTH, row + columns), valuesAt + valueLength * pair)
  }
  return plain
}

/** A pair of a transposed chunk. Reused: allocates nothing. */
export class TransposedPair {
  versionHigh = 0
  versionLow = 0
  /** The value, and what is left there of longer ones. */
  value = new Uint8Array(256)
  valueLength = 0

  /** Finds the newest pair at or below a version, in halves. Returns whether there is one. @throws `store_corrupt` */
  find(record: SharedRecord, high: number, low: number): boolean {
    const { bytes, view } = record
    const count = runCount(record)
    const columns = rowLength(record)
    const firstHigh = view.getUint32(2)
    const firstLow = view.getUint32(6)
    const limit = (high - firstHigh) * U32 + (low - firstLow)
    if (limit < 0) return false
    let version = 0
    let pair = 0
    for (; pair + 1 < count; pair++) {
      const at = ROWS_AT + pair + 1
      const step =
        bytes[at]! * 2 ** 24 + ((bytes[at + count]! << 16) | (bytes[at + 2 * count]! << 8) | bytes[at + 3 * count]!)
      if (version + step > limit) break
      version += step
    }
    this.versionHigh = firstLow + version < U32 ? firstHigh : firstHigh + 1
    this.versionLow = (firstLow + version) >>> 0
    this.#take(bytes, ROWS_AT + VERSION_LENGTH * count + pair, count, columns - VERSION_LENGTH)
    return true
  }

  #take(bytes: Uint8Array, start: number, count: number, length: number): void {
    if (length > this.value.length) this.value = new Uint8Array(2 * length)
    const { value } = this
    for (let place = 0, at = start; place < length; place++, at += count) value[place] = bytes[at]!
    this.valueLength = length
  }
}

/** Length of a version and a value. @throws `store_corrupt` */
function rowLength(record: SharedRecord): number {
  const length = (record.length - ROWS_AT - CHECKSUM_LENGTH) / runCount(record)
  if (Number.isInteger(length) && length >= VERSION_LENGTH) return length
  throw storeCorrupt('a chunk does not parse')
}

/** Puts columns one after the other, of rows that follow each other in some bytes. */
function transpose(source: Uint8Array, start: number, rows: number, columns: number, target: Uint8Array): void {
  let next = 0
  for (let column = 0; column < columns; column++) {
    for (let row = 0, at = start + column; row < rows; row++, at += columns) target[next++] = source[at]!
  }
}
