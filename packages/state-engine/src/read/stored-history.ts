import { highHalf, lowHalf } from '../bytes/numbered-key.js'
import type { SharedRecord } from '../lmdb/shared-record.js'
import { countFencesAtMost, FENCE_LENGTH, fenceLevel, fenceNumber } from '../records/fences.js'
import {
  countPairsAtMost,
  pairEnd,
  pairKind,
  pairStart,
  pairVersionHigh,
  pairVersionLow,
  partCount,
} from '../records/history-log-record.js'

/** Level of the latest record, above those of all nodes. */
const ROOT_LEVEL = 256

/** The fences of a latest record or a node, in a copy of it. */
export class StoredFences {
  readonly count: number
  /** Level of the node; `ROOT_LEVEL` for the latest record. */
  readonly level: number
  readonly #record: SharedRecord
  readonly #at: number
  readonly #end: bigint

  /** Reads fences from offset `at` of a record. `end` is the version at which the last interval ends. */
  constructor(record: SharedRecord, at: number, end: bigint, level: number = ROOT_LEVEL) {
    this.count = partCount(record)
    this.level = level
    this.#record = record
    this.#at = at
    this.#end = end
  }

  firstAt(place: number): bigint {
    return this.#record.view.getBigUint64(this.#at + FENCE_LENGTH * place)
  }

  /** Version at which the interval of a fence ends. */
  endAt(place: number): bigint {
    return place + 1 < this.count ? this.firstAt(place + 1) : this.#end
  }

  levelAt(place: number): number {
    return fenceLevel(this.#record, this.#at + FENCE_LENGTH * place)
  }

  /** Number of the chunk or the node in the history log. */
  numberAt(place: number): number {
    return fenceNumber(this.#record, this.#at + FENCE_LENGTH * place)
  }

  /** Number of fences that begin at or below a version. */
  countAtMost(version: bigint): number {
    return countFencesAtMost(this.#record.view, this.#at, this.count, highHalf(version), lowHalf(version))
  }
}

/** A copy of a chunk. */
export class Chunk {
  readonly count: number
  readonly record: SharedRecord

  constructor(record: SharedRecord) {
    this.record = record
    this.count = partCount(record)
  }

  versionAt(pair: number): bigint {
    return (BigInt(pairVersionHigh(this.record, pair)) << 32n) | BigInt(pairVersionLow(this.record, pair))
  }

  kindOf(pair: number): number {
    return pairKind(this.record, pair)
  }

  startOf(pair: number): number {
    return pairStart(this.record, pair)
  }

  endOf(pair: number): number {
    return pairEnd(this.record, pair)
  }

  countAtMost(version: bigint): number {
    return countPairsAtMost(this.record, highHalf(version), lowHalf(version))
  }
}
