import { storeCorrupt } from '@ledger-state/engine/authoring'
import { highHalf, lowHalf } from '../bytes/numbered-key.js'
import type { RecordBuilder } from '../bytes/record.js'
import { storedKeySeed } from '../bytes/stored-key.js'
import type { GenerationList } from '../compaction/generation-list.js'
import type { GenerationWriter } from '../compaction/generation-writer.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import { readPacked } from '../records/bundle-reader.js'
import { FENCE_LENGTH, type Fence } from '../records/fences.js'
import {
  CHUNK_LEVEL,
  countPairsAtMost,
  decodeChunk,
  decodeNode,
  historySeed,
  isPacked,
  NODE_FENCES_AT,
  PAIR_LENGTH,
  PAIRS_AT,
  type Pair,
  pairPayload,
  pairStart,
  partCount,
} from '../records/history-log-record.js'
import { dropLarge, readLarge } from '../records/large-values.js'
import { decodeLatest, encodeLatest, isLarge, type LatestRecord, type LatestValue } from '../records/latest-record.js'
import { beginCutTransposed, isTransposed, toPlainChunk } from '../records/transposed-chunk.js'

/** What is left of the history of a key. */
interface Kept {
  readonly fences: readonly Fence[]
  /** Newest write that is left. */
  readonly newest: Pair | undefined
}

export interface KeyRevertParts {
  readonly store: LmdbStore
  readonly builder: RecordBuilder
  /** Output for the generation of the truncation. */
  readonly output: GenerationWriter
  readonly generations: GenerationList
  /** Newest version that is left. */
  readonly version: bigint
  readonly oldestVersion: bigint
}

/**
 * Cuts off merged writes above a version, in the write transaction of the caller. The newest write that is left moves
 * from its chunk into the record of `latest`. Chunks and nodes are cut in place, so that they stay in their
 * generations.
 */
export class KeyRevert {
  /** Number of bytes of payload by which the store has grown. */
  payloadBytes = 0
  /** Number of superseded values that were taken out of chunks. */
  takenPairs = 0
  readonly #parts: KeyRevertParts
  readonly #record = new SharedRecord()

  constructor(parts: KeyRevertParts) {
    this.#parts = parts
  }

  /**
   * Cuts the history of a key. Returns false, and does nothing, if the newest write of the key is left.
   * @throws `store_corrupt`
   */
  revert(storedKey: Uint8Array): boolean {
    const { store, version } = this.#parts
    const record = this.#record
    if (!record.load(store.latestByStoredKey, storedKey, {}) || record.view.getBigUint64(2) <= version) return false
    // A damaged record must not get a new checksum.
    record.verify(storedKeySeed(storedKey))
    const latest = decodeLatest(record)
    this.payloadBytes -= latest.value?.length ?? 0
    if (isLarge(latest.value)) dropLarge(store, latest.value)
    const { fences, newest } = this.#cutList(latest.fences)
    if (!newest || (newest.value === null && newest.version <= this.#parts.oldestVersion))
      this.#forget(storedKey, latest)
    else this.#put(storedKey, latest, fences, newest)
    return true
  }

  #forget(storedKey: Uint8Array, { longKey }: LatestRecord): void {
    const { store } = this.#parts
    store.latestByStoredKey.removeSync(storedKey)
    if (longKey) dropLarge(store, longKey)
    this.payloadBytes -= longKey ? longKey.length : storedKey.length - 1
  }

  #put(
    storedKey: Uint8Array,
    { longKey }: LatestRecord,
    fences: readonly Fence[],
    { version, value: kept }: Pair,
  ): void {
    const { store, builder, output } = this.#parts
    const value = this.#toStored(kept)
    if (value === null) output.garbage.addDeletion(version, storedKey)
    this.payloadBytes += value?.length ?? 0
    const record = encodeLatest(builder, storedKey.subarray(1), { version, fences, longKey, value })
    store.latestByStoredKey.putSync(storedKey, record)
  }

  /**
   * Converts a value to its stored form. A large value is copied, because the garbage list of its generation still
   * names the original.
   */
  #toStored(value: Pair['value']): LatestValue {
    const { store, output } = this.#parts
    if (value === null || value instanceof Uint8Array) return value
    if (isPacked(value)) return readPacked(store, value, {})
    return output.putLarge(readLarge(store, value, {}))
  }

  /**
   * Cuts the records that a list of fences leads to. The last fence that is left may lead to some writes above the
   * version.
   */
  #cutList(fences: readonly Fence[]): Kept {
    const count = fences.findLastIndex(({ firstVersion }) => firstVersion <= this.#parts.version)
    for (const fence of fences.slice(count + 1)) this.#drop(fence)
    const last = fences[count]
    if (!last) return { fences: [], newest: undefined }
    const { isEmpty, newest } = last.level === CHUNK_LEVEL ? this.#cutChunk(last.number) : this.#cutNode(last)
    return { fences: fences.slice(0, isEmpty ? count : count + 1), newest }
  }

  #cutNode({ number, level }: Fence): { isEmpty: boolean; newest: Pair | undefined } {
    const { store, builder } = this.#parts
    const record = this.#load(number)
    const { fences, newest } = this.#cutList(decodeNode(record, level))
    if (fences.length === 0) store.historyLog.removeSync(number)
    else {
      builder.begin().u8(level).u8(fences.length)
      builder.part(record.bytes, NODE_FENCES_AT, NODE_FENCES_AT + FENCE_LENGTH * fences.length)
      store.historyLog.putSync(number, builder.seal(historySeed(number)))
    }
    return { isEmpty: fences.length === 0, newest }
  }

  /** Cuts a chunk. Its newest pair that is left is removed, too, because it becomes the record in `latest`. */
  #cutChunk(number: number): { isEmpty: boolean; newest: Pair } {
    const { version } = this.#parts
    const record = this.#load(number)
    const chunk = toPlainChunk(record)
    const left = countPairsAtMost(chunk, highHalf(version), lowHalf(version)) - 1
    const newest = decodeChunk(chunk)[left]
    if (!newest) throw storeCorrupt('a chunk of the history log begins after its fence')
    this.#cutPairs(number, record, chunk, left)
    return { isEmpty: left === 0, newest }
  }

  #drop({ number, level }: Fence): void {
    const record = this.#load(number)
    if (level === CHUNK_LEVEL) this.#cutPairs(number, record, toPlainChunk(record), 0)
    else {
      for (const below of decodeNode(record, level)) this.#drop(below)
      this.#parts.store.historyLog.removeSync(number)
    }
  }

  /**
   * Keeps the first pairs of a chunk, which is given as it is stored and as a plain one. Values and bundles that the
   * other pairs refer to stay until their generation is dropped.
   */
  #cutPairs(number: number, record: SharedRecord, chunk: SharedRecord, left: number): void {
    const { store, builder, generations } = this.#parts
    const count = partCount(record)
    let payloadBytes = 0
    for (let pair = left; pair < count; pair++) payloadBytes += pairPayload(chunk, pair)
    generations.take(number, count - left, payloadBytes)
    this.takenPairs += count - left
    this.payloadBytes -= payloadBytes
    if (left === 0) {
      store.historyLog.removeSync(number)
      return
    }
    if (isTransposed(record)) beginCutTransposed(builder, record, left)
    else beginCutChunk(builder, record, left)
    store.historyLog.putSync(number, builder.seal(historySeed(number)))
  }

  /** Reads a record of the history log, as a copy. */
  #load(number: number): SharedRecord {
    const record = this.#record
    if (!record.load(this.#parts.store.historyLog, number, {}))
      throw storeCorrupt(`record ${number} of the history log is missing`)
    record.verify(historySeed(number))
    return record.detach()
  }
}

function beginCutChunk(builder: RecordBuilder, record: SharedRecord, left: number): void {
  builder
    .begin()
    .u8(CHUNK_LEVEL)
    .u8(left)
    .part(record.bytes, 2, PAIRS_AT + PAIR_LENGTH * left)
  builder.part(record.bytes, pairStart(record, 0), pairStart(record, left))
}
