import { CHECKSUM_LENGTH, RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { PackedBytes } from '../records/bundle-reader.js'
import { BundleWriter } from '../records/bundle-writer.js'
import { FENCE_LENGTH } from '../records/fences.js'
import { GarbageWriter } from '../records/garbage-list.js'
import type { Generation } from '../records/generations.js'
import {
  CHUNK_LEVEL,
  HISTORY_RECORD_TARGET,
  historySeed,
  MAX_PAIRS,
  PACKED,
  PAIR_LENGTH,
  PAIRS_AT,
} from '../records/history-log-record.js'
import { type LargeBytes, putLarge } from '../records/large-values.js'
import { LARGE } from '../records/latest-record.js'
import type { LedgerRecord } from '../records/ledger-record.js'
import { beginTransposed, mostTransposedPairs } from '../records/transposed-chunk.js'
import type { MergedFences } from './merged-fences.js'
import type { PairList } from './pair-list.js'

const APPEND = { append: true }
const U32 = 2 ** 32

/** Appends the records of a merge other than those of `latest`, and counts them. */
export class GenerationWriter {
  readonly garbage: GarbageWriter
  readonly #store: LmdbStore
  readonly #builder: RecordBuilder
  readonly #bundles: BundleWriter
  /** Builder of transposed chunks, made for the first of them. */
  #rows: RecordBuilder | undefined
  readonly #firstNumber: number
  #nextHistoryNumber: number
  #nextLargeId: number
  #pairs: number
  #payloadBytes: number

  /** Continues the generation of the merge under way. `before` is the ledger record before the merge. */
  constructor(store: LmdbStore, builder: RecordBuilder, before: LedgerRecord, merging: Generation | undefined) {
    this.#store = store
    this.#builder = builder
    this.#nextHistoryNumber = before.nextHistoryNumber
    this.#nextLargeId = before.nextLargeId
    this.#firstNumber = merging?.firstNumber ?? this.#nextHistoryNumber
    this.#pairs = merging?.pairs ?? 0
    this.#payloadBytes = merging?.payloadBytes ?? 0
    this.garbage = new GarbageWriter(store, before.nextGeneration, merging?.garbageRecords ?? 0)
    this.#bundles = new BundleWriter(
      store,
      () => this.#nextLargeId++,
      (bundle) => this.garbage.addLarge(bundle),
    )
  }

  get nextHistoryNumber(): number {
    return this.#nextHistoryNumber
  }

  get nextLargeId(): number {
    return this.#nextLargeId
  }

  /** Number of superseded values in the chunks of the merge. */
  get pairs(): number {
    return this.#pairs
  }

  /** Writes what was collected from several keys. */
  flush(): void {
    this.#bundles.end()
    this.garbage.flush()
  }

  /** The generation as written so far. Call it after `flush`. */
  generation(upTo: bigint): Generation {
    return {
      upTo,
      firstNumber: this.#firstNumber,
      endNumber: this.#nextHistoryNumber,
      garbageRecords: this.garbage.count,
      pairs: this.#pairs,
      payloadBytes: this.#payloadBytes,
    }
  }

  putLarge(bytes: Uint8Array): LargeBytes {
    const id = this.#nextLargeId++
    putLarge(this.#store, this.#builder, id, bytes)
    return { id, length: bytes.length }
  }

  /** Stores a superseded value in a bundle, which is dropped together with the generation. */
  pack(source: Uint8Array, start: number, end: number): PackedBytes {
    return this.#bundles.add(source, start, end)
  }

  /** Appends chunks of all pairs, and a fence for each chunk. */
  appendChunks(pairs: PairList, fences: MergedFences): void {
    for (let start = 0; start < pairs.count; ) {
      const plainEnd = chunkEnd(pairs, start)
      const equalEnd = this.#store.compressHistory ? equalLengthsEnd(pairs, start) : start
      const isTransposed = equalEnd >= plainEnd && equalEnd - start > 1
      const end = isTransposed ? equalEnd : plainEnd
      const number = isTransposed ? this.#appendTransposed(pairs, start, end) : this.#appendChunk(pairs, start, end)
      fences.push(pairs.high[start]!, pairs.low[start]!, CHUNK_LEVEL, number)
      start = end
    }
    this.#pairs += pairs.count
    this.#payloadBytes += pairs.payloadBytes
  }

  #appendChunk(pairs: PairList, start: number, end: number): number {
    const builder = this.#builder
      .begin()
      .u8(CHUNK_LEVEL)
      .u8(end - start)
      .u32(pairs.high[start]!)
      .u32(pairs.low[start]!)
    let valueEnd = 0
    for (let pair = start; pair < end; pair++) {
      valueEnd += pairs.encodedLength(pair)
      builder.u32(versionsBetween(pairs, start, pair)).u16((valueEnd << 2) | pairs.kind[pair]!)
    }
    for (let pair = start; pair < end; pair++) {
      const kind = pairs.kind[pair]!
      if (kind >= LARGE) builder.u48(pairs.largeId[pair]!).u32(pairs.end[pair]!)
      if (kind === PACKED) builder.u32(pairs.frame[pair]!).u16(pairs.start[pair]!)
      if (kind === 0) builder.part(pairs.source[pair]!, pairs.start[pair]!, pairs.end[pair]!)
    }
    return this.#append()
  }

  #appendTransposed(pairs: PairList, start: number, end: number): number {
    this.#rows ??= new RecordBuilder()
    const rows = this.#rows.begin()
    for (let pair = start; pair < end; pair++) {
      rows.u32(pair === start ? 0 : versionsBetween(pairs, pair - 1, pair))
      rows.part(pairs.source[pair]!, pairs.start[pair]!, pairs.end[pair]!)
    }
    beginTransposed(this.#builder, end - start, pairs.high[start]!, pairs.low[start]!, rows.content)
    return this.#append()
  }

  /** Appends a node with the fences from `start` to `end`. */
  readonly appendNode = (level: number, fences: MergedFences, start: number, end: number): number => {
    this.#builder
      .begin()
      .u8(level)
      .u8(end - start)
    this.#builder.part(fences.bytes, FENCE_LENGTH * start, FENCE_LENGTH * end)
    return this.#append()
  }

  #append(): number {
    const number = this.#nextHistoryNumber++
    this.#store.historyLog.putSync(number, this.#builder.seal(historySeed(number)), APPEND)
    return number
  }
}

/** End of the pairs from `start` on that fit into one chunk. */
function chunkEnd(pairs: PairList, start: number): number {
  let length = PAIRS_AT + CHECKSUM_LENGTH + PAIR_LENGTH + pairs.encodedLength(start)
  let end = start + 1
  for (; end < pairs.count && end - start < MAX_PAIRS && versionsBetween(pairs, start, end) < U32; end++) {
    length += PAIR_LENGTH + pairs.encodedLength(end)
    if (length > HISTORY_RECORD_TARGET) break
  }
  return end
}

/** End of the pairs from `start` on that fit into one transposed chunk, which has values of one length. */
function equalLengthsEnd(pairs: PairList, start: number): number {
  const length = pairs.encodedLength(start)
  const most = Math.min(pairs.count, start + MAX_PAIRS, start + mostTransposedPairs(length))
  let end = start
  while (
    end < most &&
    pairs.kind[end] === 0 &&
    pairs.encodedLength(end) === length &&
    versionsBetween(pairs, start, end) < U32
  ) {
    end++
  }
  return end
}

/**
 * Number of versions between two pairs. It is exact up to 2^32; for pairs that are further apart it is some number
 * above that.
 */
function versionsBetween({ high, low }: PairList, first: number, second: number): number {
  return (high[second]! - high[first]!) * U32 + (low[second]! - low[first]!)
}
