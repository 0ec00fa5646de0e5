import { storeCorrupt } from '@ledger-state/engine/authoring'
import { counterSeed } from '../bytes/counter-key.js'
import { CHECKSUM_LENGTH } from '../bytes/record.js'
import type { SharedRecord } from '../lmdb/shared-record.js'
import { PACKED_REFERENCE_LENGTH, type PackedBytes } from './bundle-reader.js'
import { FENCE_LENGTH, type Fence, readFences } from './fences.js'
import { LARGE_REFERENCE_LENGTH } from './large-values.js'
import { DELETED, LARGE, type LatestValue, largeReference } from './latest-record.js'

// A record of the history log, the database `history-log`, to which records are only appended, by number:
//   a chunk: u8 0 | u8 m | u64 version of the first pair | m × pair | values | u32 CRC
//     pair: u32 version less that of the first | u16 end of its value, counted from the first value, << 2 | kind
//     pairs of one key, ascending; each value was superseded by the next pair's version
//     the same transposed: `transposed-chunk.ts`
//   a node: u8 level above 0 | u8 m | m × fence of the level below | u32 CRC

export const CHUNK_LEVEL = 0
/** Stands in the place of the level for a transposed chunk. */
export const TRANSPOSED = 128
export const PAIRS_AT = 10
export const PAIR_LENGTH = 6
export const NODE_FENCES_AT = 2
/** Length of a record so that two of them fill a page of LMDB. */
export const HISTORY_RECORD_TARGET = 1_900
export const MAX_PAIRS = 255
export const MAX_NODE_FENCES = 126
/** Longest superseded value in a chunk. Longer ones are packed into bundles, which fill pages better. */
export const MAX_CHUNK_VALUE_LENGTH = 1_400

const U32 = 2 ** 32

/** Seed for the checksum of a record. */
export function historySeed(number: number): number {
  return counterSeed(number)
}

export function recordLevel({ bytes }: SharedRecord): number {
  const first = bytes[0]!
  return first === TRANSPOSED ? CHUNK_LEVEL : first
}

/** Number of pairs in a chunk, or of fences in a node. */
export function partCount({ bytes }: SharedRecord): number {
  return bytes[1]!
}

/** Number of pairs of a chunk that are at or below a version, given as halves. */
export function countPairsAtMost(record: SharedRecord, high: number, low: number): number {
  const { view } = record
  // Versions relative to the first pair's: exact in a float, because pairs of a chunk are less than 2^32 apart.
  const limit = (high - view.getUint32(2)) * U32 + (low - view.getUint32(6))
  let least = 0
  let most = partCount(record)
  while (least < most) {
    const middle = (least + most) >> 1
    if (view.getUint32(PAIRS_AT + PAIR_LENGTH * middle) <= limit) least = middle + 1
    else most = middle
  }
  return least
}

export function pairVersionHigh({ view }: SharedRecord, pair: number): number {
  const low = view.getUint32(6) + view.getUint32(PAIRS_AT + PAIR_LENGTH * pair)
  return low < U32 ? view.getUint32(2) : view.getUint32(2) + 1
}

export function pairVersionLow({ view }: SharedRecord, pair: number): number {
  return (view.getUint32(6) + view.getUint32(PAIRS_AT + PAIR_LENGTH * pair)) >>> 0
}

/**
 * Kind of a pair with a reference to a part of a bundle. Other pairs are a deletion (`DELETED`), have a reference to a
 * large value (`LARGE`), or have the value itself.
 */
export const PACKED = 3

/** Kind of a pair: `DELETED`, `LARGE`, `PACKED` or 0. */
export function pairKind({ view }: SharedRecord, pair: number): number {
  return view.getUint16(PAIRS_AT + PAIR_LENGTH * pair + 4) & 3
}

/** Offset in the record of the value of a pair, or of the reference to it. */
export function pairStart(record: SharedRecord, pair: number): number {
  const valuesAt = PAIRS_AT + PAIR_LENGTH * partCount(record)
  return pair === 0 ? valuesAt : valuesAt + (record.view.getUint16(PAIRS_AT + PAIR_LENGTH * pair - 2) >> 2)
}

export function pairEnd(record: SharedRecord, pair: number): number {
  const end = record.view.getUint16(PAIRS_AT + PAIR_LENGTH * pair + 4) >> 2
  return PAIRS_AT + PAIR_LENGTH * partCount(record) + end
}

/** Number of bytes of payload of a pair: the length of its value, wherever that is. */
export function pairPayload(record: SharedRecord, pair: number): number {
  const start = pairStart(record, pair)
  return pairKind(record, pair) >= LARGE ? record.view.getUint32(start + 6) : pairEnd(record, pair) - start
}

export interface Pair {
  readonly version: bigint
  /** The value, as a copy. */
  readonly value: LatestValue | PackedBytes
}

export function isPacked(value: LatestValue | PackedBytes): value is PackedBytes {
  return value !== null && !(value instanceof Uint8Array) && 'frame' in value
}

export function packedReference(record: SharedRecord, at: number): PackedBytes {
  const { view } = record
  const frameAt = at + LARGE_REFERENCE_LENGTH
  return { ...largeReference(record, at), frame: view.getUint32(frameAt), start: view.getUint16(frameAt + 4) }
}

/** Decodes a chunk into copies. @throws `store_corrupt` */
export function decodeChunk(record: SharedRecord): Pair[] {
  const count = partCount(record)
  expectLevel(record, CHUNK_LEVEL, PAIRS_AT + PAIR_LENGTH * count)
  let end = PAIRS_AT + PAIR_LENGTH * count
  return Array.from({ length: count }, (_, pair) => {
    const start = end
    const kind = pairKind(record, pair)
    end = pairEnd(record, pair)
    const length = ENCODED_LENGTHS[kind] ?? Math.max(0, end - start)
    if (end !== start + length || end > record.length - CHECKSUM_LENGTH) throw storeCorrupt('a chunk does not parse')
    const version = (BigInt(pairVersionHigh(record, pair)) << 32n) | BigInt(pairVersionLow(record, pair))
    return { version, value: pairValue(record, kind, start, end) }
  })
}

/** Lengths of the kinds whose length does not depend on the value. */
const ENCODED_LENGTHS: readonly (number | undefined)[] = [undefined, 0, LARGE_REFERENCE_LENGTH, PACKED_REFERENCE_LENGTH]

function pairValue(record: SharedRecord, kind: number, start: number, end: number): Pair['value'] {
  if (kind === DELETED) return null
  if (kind === LARGE) return largeReference(record, start)
  return kind === PACKED ? packedReference(record, start) : record.copy(start, end)
}

/** Decodes the fences of a node. @throws `store_corrupt` */
export function decodeNode(record: SharedRecord, level: number): Fence[] {
  const count = partCount(record)
  expectLevel(record, level, NODE_FENCES_AT + FENCE_LENGTH * count)
  return readFences(record, NODE_FENCES_AT, count)
}

function expectLevel(record: SharedRecord, level: number, least: number): void {
  const isWhole = record.length >= least + CHECKSUM_LENGTH
  if (isWhole && recordLevel(record) === level && partCount(record) > 0) return
  throw storeCorrupt(
    `a record of the database history-log is not the ${level === CHUNK_LEVEL ? 'chunk' : 'node'} it should be`,
  )
}
