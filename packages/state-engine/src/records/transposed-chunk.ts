import { storeCorrupt } from '@ledger-state/engine/authoring'
import { CHECKSUM_LENGTH, type RecordBuilder } from '../bytes/record.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import { CHUNK_LEVEL, PAIR_LENGTH, PAIRS_AT, partCount, TRANSPOSED } from './history-log-record.js'

// A chunk of the history log whose values have one length, in the form that takes least space:
//   u8 128 | u8 m | u64 version of the first pair | u16 columns | stretches | equal columns, a byte each | the others, m bytes each | u32 CRC
//     a row: u32 version less that of the previous pair, 0 for the first | value
//     a column: the bytes of the m rows at one place; it is equal if all of these bytes are
//     a stretch: u8 columns that are equal | u8 columns after them that are stored whole; as many as all columns take
// A write changes few bytes of a value: most columns are equal.

const COLUMNS_AT = 10
const STRETCHES_AT = 12
const STRETCH_LENGTH = 2
const LONGEST_STRETCH = 255
const VERSION_LENGTH = 4
/** Length of rows that fill a page alone if no columns are equal. */
const MOST_ROWS_LENGTH = 3_986
const U32 = 2 ** 32

export function isTransposed({ bytes }: SharedRecord): boolean {
  return bytes[0] === TRANSPOSED
}

/** Most pairs with values of this length in a transposed chunk. */
export function mostTransposedPairs(valueLength: number): number {
  return Math.floor(MOST_ROWS_LENGTH / (VERSION_LENGTH + valueLength))
}

/** Begins a chunk with rows that follow each other in some bytes. */
export function beginTransposed(
  builder: RecordBuilder,
  count: number,
  firstHigh: number,
  firstLow: number,
  rows: Uint8Array,
): void {
  const columns = rows.length / count
  const stretches = stretchesOf(rows, count)
  builder.begin().u8(TRANSPOSED).u8(count).u32(firstHigh).u32(firstLow).u16(columns)
  for (let at = 0, from = 0; at < stretches.length; from = stretches[at + 1]!, at += 2) {
    addStretch(builder, stretches[at]! - from, stretches[at + 1]! - stretches[at]!)
  }
  for (let at = 0, from = 0; at < stretches.length; from = stretches[at + 1]!, at += 2) {
    builder.part(rows, from, stretches[at]!)
  }
  for (let at = 0; at < stretches.length; at += 2) {
    const end = stretches[at + 1]!
    const target = builder.room((end - stretches[at]!) * count)
    for (let column = stretches[at]!, next = 0; column < end; column++) {
      for (let place = column; place < rows.length; place += columns) target[next++] = rows[place]!
    }
  }
}

/** Columns at which stretches that are stored whole begin and end, alternately. The last ends with the row. */
function stretchesOf(rows: Uint8Array, count: number): number[] {
  const columns = rows.length / count
  const stretches: number[] = []
  let end = 0
  for (let column = 0; column <= columns; column++) {
    const isLast = column === columns
    if (!isLast && isEqualColumn(rows, column, columns)) continue
    const next = isLast ? column : column + 1
    const saved = (column - end) * (count - 1)
    // Equal columns are not worth a stretch if the stretch takes as much as they save.
    if (stretches.length > 0 && saved <= STRETCH_LENGTH) stretches[stretches.length - 1] = next
    else stretches.push(column, next)
    end = next
  }
  return stretches
}

function isEqualColumn(rows: Uint8Array, column: number, columns: number): boolean {
  const first = rows[column]
  for (let place = column + columns; place < rows.length; place += columns) if (rows[place] !== first) return false
  return true
}

function addStretch(builder: RecordBuilder, equal: number, whole: number): void {
  for (; equal > LONGEST_STRETCH; equal -= LONGEST_STRETCH) builder.u8(LONGEST_STRETCH).u8(0)
  builder.u8(equal)
  for (; whole > LONGEST_STRETCH; whole -= LONGEST_STRETCH) builder.u8(LONGEST_STRETCH).u8(0)
  builder.u8(whole)
}

/** Begins a chunk with the first pairs of another. @throws `store_corrupt` */
export function beginCutTransposed(builder: RecordBuilder, record: SharedRecord, left: number): void {
  const count = partCount(record)
  const { wholeAt } = new ChunkParts().find(record)
  builder.begin().u8(TRANSPOSED).u8(left).part(record.bytes, 2, wholeAt)
  for (let at = wholeAt; at < record.length - CHECKSUM_LENGTH; at += count) builder.part(record.bytes, at, at + left)
}

/**
 * Converts a chunk to the form of `history-log-record.ts`: returns the record itself, or a copy that has no checksum.
 * @throws `store_corrupt`
 */
export function toPlainChunk(record: SharedRecord): SharedRecord {
  if (!isTransposed(record)) return record
  const count = partCount(record)
  const row = new TransposedRow()
  row.begin(record)
  const valueLength = row.end - VERSION_LENGTH
  const valuesAt = PAIRS_AT + PAIR_LENGTH * count
  const plain = SharedRecord.over(new Uint8Array(valuesAt + valueLength * count + CHECKSUM_LENGTH))
  const { bytes, view } = plain
  bytes[0] = CHUNK_LEVEL
  bytes[1] = count
  bytes.set(record.copy(2, PAIRS_AT), 2)
  let version = 0
  for (let pair = 0; pair < count; pair++) {
    const at = PAIRS_AT + PAIR_LENGTH * pair
    version += row.step(record, pair)
    view.setUint32(at, version)
    view.setUint16(at + 4, (valueLength * (pair + 1)) << 2)
    row.take(record, pair)
    bytes.set(row.bytes.subarray(VERSION_LENGTH, row.end), valuesAt + valueLength * pair)
  }
  return plain
}

/** Finds pairs of transposed chunks. The object is reused, and allocates nothing. */
export class TransposedPair {
  versionHigh = 0
  versionLow = 0
  readonly #row = new TransposedRow()

  /** Bytes that have the value, from `valueStart` to `valueEnd`. */
  get bytes(): Uint8Array {
    return this.#row.bytes
  }

  get valueStart(): number {
    return VERSION_LENGTH
  }

  get valueEnd(): number {
    return this.#row.end
  }

  /**
   * Finds the newest pair at or below a version, given as halves. Returns whether there is one.
   * @throws `store_corrupt`
   */
  find(record: SharedRecord, high: number, low: number): boolean {
    const { view } = record
    const row = this.#row
    row.begin(record)
    const count = partCount(record)
    const firstHigh = view.getUint32(2)
    const firstLow = view.getUint32(6)
    const limit = (high - firstHigh) * U32 + (low - firstLow)
    if (limit < 0) return false
    let version = 0
    let pair = 0
    for (; pair + 1 < count; pair++) {
      const step = row.step(record, pair + 1)
      if (version + step > limit) break
      version += step
    }
    this.versionHigh = firstLow + version < U32 ? firstHigh : firstHigh + 1
    this.versionLow = (firstLow + version) >>> 0
    row.take(record, pair)
    return true
  }
}

/** Reads the rows of a chunk, one after the other. */
class TransposedRow {
  /** Memory for the current row, followed by what is left of earlier, longer ones. */
  bytes = new Uint8Array(256)
  /** Offset of the end of the row. */
  end = 0
  readonly #parts = new ChunkParts()
  // For each byte of a version: the offset of that of the first row, and the distance to that of the next row.
  readonly #versionAt = new Int32Array(VERSION_LENGTH)
  readonly #versionStep = new Int32Array(VERSION_LENGTH)

  /** Begins with a chunk. Call it before the other methods. @throws `store_corrupt` */
  begin(record: SharedRecord): void {
    const { columns, equalAt, wholeAt } = this.#parts.find(record)
    this.end = columns
    if (columns > this.bytes.length) this.bytes = new Uint8Array(2 * columns)
    const { bytes } = record
    const count = partCount(record)
    let equal = equalAt
    let whole = wholeAt
    for (let column = 0, stretch = STRETCHES_AT, left = 0; column < VERSION_LENGTH; ) {
      for (left = bytes[stretch]!; left > 0 && column < VERSION_LENGTH; left--, column++)
        this.#locate(column, equal++, 0)
      for (left = bytes[stretch + 1]!; left > 0 && column < VERSION_LENGTH; left--, column++) {
        this.#locate(column, whole, 1)
        whole += count
      }
      stretch += STRETCH_LENGTH
    }
  }

  #locate(column: number, at: number, step: number): void {
    this.#versionAt[column] = at
    this.#versionStep[column] = step
  }

  /** Version of a row, less that of the previous row. */
  step({ bytes }: SharedRecord, row: number): number {
    const at = this.#versionAt
    const step = this.#versionStep
    return (
      bytes[at[0]! + row * step[0]!]! * 2 ** 24 +
      ((bytes[at[1]! + row * step[1]!]! << 16) |
        (bytes[at[2]! + row * step[2]!]! << 8) |
        bytes[at[3]! + row * step[3]!]!)
    )
  }

  take(record: SharedRecord, row: number): void {
    const source = record.bytes
    const target = this.bytes
    const count = partCount(record)
    const { columns, equalAt, wholeAt } = this.#parts
    let equal = equalAt
    let whole = wholeAt + row
    for (let column = 0, stretch = STRETCHES_AT; column < columns; stretch += STRETCH_LENGTH) {
      for (let left = source[stretch]!; left > 0; left--) target[column++] = source[equal++]!
      for (let left = source[stretch + 1]!; left > 0; left--, whole += count) target[column++] = source[whole]!
    }
  }
}

/** Finds the offsets of the parts of a chunk. */
class ChunkParts {
  columns = 0
  equalAt = 0
  wholeAt = 0

  /** Finds the parts of a chunk. @throws `store_corrupt` */
  find(record: SharedRecord): this {
    const { bytes, view } = record
    const end = record.length - CHECKSUM_LENGTH
    const columns = end < STRETCHES_AT ? 0 : view.getUint16(COLUMNS_AT)
    let column = 0
    let equal = 0
    let at = STRETCHES_AT
    for (; column < columns && at < end; at += STRETCH_LENGTH) {
      equal += bytes[at]!
      column += bytes[at]! + bytes[at + 1]!
    }
    const count = partCount(record)
    const isRows = columns >= VERSION_LENGTH && count > 0 && count * columns <= MOST_ROWS_LENGTH
    if (!isRows || column !== columns || at + equal + (columns - equal) * count !== end) {
      throw storeCorrupt('a chunk does not parse')
    }
    this.columns = columns
    this.equalAt = at
    this.wholeAt = at + equal
    return this
  }
}
