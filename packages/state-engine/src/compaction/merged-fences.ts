import { isAtMost } from '../bytes/numbered-key.js'
import { FENCE_LENGTH } from '../records/fences.js'
import { MAX_NODE_FENCES } from '../records/history-log-record.js'
import { MAX_FENCES } from '../records/latest-record.js'

/**
 * Number of the newest fences of a level that stay in the record, where a look-up finds them first, when the others are
 * moved into a node.
 */
const KEPT_FENCES = 8

/** Writes a node with the fences from `start` to `end` of a list. Returns its number in the history log. */
export type AppendNode = (level: number, fences: MergedFences, start: number, end: number) => number

/** The fences of a key while it is merged, encoded as in records. The object is reused for the next key. */
export class MergedFences {
  #bytes = new Uint8Array(64 * FENCE_LENGTH)
  #view = new DataView(this.#bytes.buffer)
  #count = 0

  get count(): number {
    return this.#count
  }

  get bytes(): Uint8Array {
    return this.#bytes
  }

  clear(): void {
    this.#count = 0
  }

  /** Loads the fences of a record, which are encoded from `at` on. */
  load(record: Uint8Array, at: number, count: number): void {
    this.#count = count
    this.#reserve()
    this.#bytes.set(new Uint8Array(record.buffer, record.byteOffset + at, count * FENCE_LENGTH))
  }

  push(high: number, low: number, level: number, number: number): void {
    this.#count++
    this.#reserve()
    this.#put(this.#count - 1, high, low, level, number)
  }

  /**
   * Drops the fences whose intervals end at or below the oldest version. The interval of the last fence ends at the
   * version `end`. Both are given as halves.
   */
  dropEnded(oldestHigh: number, oldestLow: number, endHigh: number, endLow: number): void {
    const count = this.#count
    const view = this.#view
    let ended = 0
    while (ended < count) {
      const next = FENCE_LENGTH * (ended + 1)
      const high = ended + 1 < count ? view.getUint32(next) : endHigh
      const low = ended + 1 < count ? view.getUint32(next + 4) : endLow
      if (!isAtMost(high, low, oldestHigh, oldestLow)) break
      ended++
    }
    if (ended === 0) return
    this.#bytes.copyWithin(0, FENCE_LENGTH * ended, FENCE_LENGTH * count)
    this.#count = count - ended
  }

  /**
   * Moves the oldest fences of a level into nodes until a record can hold the rest. The level with most fences comes
   * first, so that a node holds many, and there are few levels.
   */
  fold(append: AppendNode): void {
    while (this.#count > MAX_FENCES) {
      const { start, count } = this.#largestLevel()
      const moved = Math.min(MAX_NODE_FENCES, count > 2 * KEPT_FENCES ? count - KEPT_FENCES : count)
      const level = this.#levelOf(start) + 1
      const number = append(level, this, start, start + moved)
      const at = FENCE_LENGTH * start
      this.#put(start, this.#view.getUint32(at), this.#view.getUint32(at + 4), level, number)
      this.#bytes.copyWithin(at + FENCE_LENGTH, at + FENCE_LENGTH * moved, FENCE_LENGTH * this.#count)
      this.#count -= moved - 1
    }
  }

  /** Finds the level with most fences. Fences of one level are adjacent. */
  #largestLevel(): { start: number; count: number } {
    let largest = { start: 0, count: 0 }
    for (let start = 0; start < this.#count; ) {
      let end = start + 1
      while (end < this.#count && this.#levelOf(end) === this.#levelOf(start)) end++
      if (end - start >= largest.count) largest = { start, count: end - start }
      start = end
    }
    return largest
  }

  #levelOf(place: number): number {
    return this.#bytes[FENCE_LENGTH * place + 8]!
  }

  #put(place: number, high: number, low: number, level: number, number: number): void {
    const at = FENCE_LENGTH * place
    const view = this.#view
    view.setUint32(at, high)
    view.setUint32(at + 4, low)
    view.setUint8(at + 8, level)
    view.setUint16(at + 9, Math.floor(number / 2 ** 32))
    view.setUint32(at + 11, number >>> 0)
  }

  #reserve(): void {
    if (this.#count * FENCE_LENGTH <= this.#bytes.length) return
    const larger = new Uint8Array(2 * this.#count * FENCE_LENGTH)
    larger.set(this.#bytes)
    this.#bytes = larger
    this.#view = new DataView(larger.buffer)
  }
}
