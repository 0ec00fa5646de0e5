import type { Random } from '@ledger-state/testing/random'

/**
 * How often keys come back: the share of all writes, those of the framework included, that write a key for the first time. Two
 * settings between which a real chain lies; no count of mainnet’s writes is known.
 *
 * `returning`: 2 %, as in the whole of mainnet, 10⁹ keys (assumed) in 52.8 · 10⁹ writes. In the backup of a small real chain it is
 * 1.7 % (1,178 keys in 69,212 writes).
 *
 * `spreading`: 17 %, as in the measurements that the design of segments follows from, 138,148 keys in 831,552 writes. No chain is
 * known that keeps making as many keys, so sizes that follow from it are at the upper end.
 *
 * In both, a key that comes back is the n-th known one of its kind as often as 1 ÷ n says (Zipf), which is assumed.
 * With `spreading` 51,517 writes, about as many as fill a memtable of 8 MB, then have 0.44 as many keys late in a
 * ledger of 831,552 writes; the design counted 0.43.
 */
export const FIRST_WRITES = { returning: 0.02, spreading: 0.17 } as const

export type KeyReturns = keyof typeof FIRST_WRITES

/** Number of keys before any comes back: a transaction writes at most ten different ones. */
const LEAST_KNOWN = 16

/** Numbers records as they appear, and draws those that come back. */
export class KeyPopulation {
  readonly #random: Random
  #known = 0

  constructor(random: Random) {
    this.#random = random
  }

  /** Number of numbers that were drawn, which is the next new number. */
  get known(): number {
    return this.#known
  }

  /** Draws a number of at least 0: the smallest that was not drawn yet, if a new one is asked for or few are known. */
  draw(isNew: boolean): number {
    if (isNew || this.#known < LEAST_KNOWN) return this.#known++
    const fraction = this.#random.below(2 ** 30) / 2 ** 30
    return Math.min(this.#known - 1, Math.floor((this.#known + 1) ** fraction) - 1)
  }
}

/** Counts the writes of each record, and keeps when it was first written, in eight bytes a record. */
export class WriteCounts {
  #counts = new Uint32Array(1_024)
  #firstHeights = new Uint32Array(1_024)

  /** Counts one more write, and returns the number of earlier ones. */
  next(record: number, height: number): number {
    if (record >= this.#counts.length) {
      this.#counts = grown(this.#counts, record)
      this.#firstHeights = grown(this.#firstHeights, record)
    }
    const before = this.#counts[record]!
    if (before === 0) this.#firstHeights[record] = height
    this.#counts[record] = before + 1
    return before
  }

  /** The block that first wrote the record. */
  firstHeight(record: number): number {
    return this.#firstHeights[record]!
  }
}

function grown(numbers: Uint32Array<ArrayBuffer>, atLeast: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * Math.max(atLeast, numbers.length))
  larger.set(numbers)
  return larger
}
