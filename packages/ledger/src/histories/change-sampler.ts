import type { Change } from './history.js'

/** Of each bucket: its first and last change, its least and its greatest value. */
const KEPT_OF_BUCKET = 4

interface Measured<T> {
  readonly change: Change<T>
  readonly measure: bigint
}

interface Bucket<T> {
  readonly first: Measured<T>
  last: Measured<T>
  least: Measured<T>
  greatest: Measured<T>
}

/** The versions that a `ChangeSampler` samples, and how many changes it keeps. */
export interface SampledRange {
  /** First and last version, both included. */
  readonly first: bigint
  readonly last: bigint
  /** Most changes that are kept, at least 4. */
  readonly points: number
}

/**
 * Keeps at most so many changes of a number that a curve of them shows every peak: the versions of the range are divided
 * into equal buckets, and of each bucket the first and the last change, the least and the greatest value are kept. Changes
 * are added in the order of their versions, up or down. Memory is bounded by the points.
 */
export class ChangeSampler<T> {
  readonly #range: SampledRange
  /** By their numbers, in the order in which they were begun, which is that of the changes. */
  readonly #buckets = new Map<bigint, Bucket<T>>()

  constructor(range: SampledRange) {
    this.#range = range
  }

  /** Adds the next change. */
  add(change: Change<T>, measure: bigint): void {
    const at = this.#bucketAt(change.version)
    const bucket = this.#buckets.get(at)
    const measured = { change, measure }
    if (!bucket) {
      this.#buckets.set(at, { first: measured, last: measured, least: measured, greatest: measured })
      return
    }
    bucket.last = measured
    if (measure < bucket.least.measure) bucket.least = measured
    if (measure > bucket.greatest.measure) bucket.greatest = measured
  }

  /** What is kept, each change once, in the order in which they were added. */
  *kept(): Generator<Change<T>> {
    for (const { first, last, least, greatest } of this.#buckets.values()) {
      const isDescending = last.change.version < first.change.version
      const changes = [...new Set([first, least, greatest, last])].map(({ change }) => change)
      yield* changes.sort((a, b) => (a.version < b.version === isDescending ? 1 : -1))
    }
  }

  /** Versions outside the range, such as that which wrote what the window began with, count to the bucket at its end. */
  #bucketAt(version: bigint): bigint {
    const { first, last, points } = this.#range
    const buckets = BigInt(Math.max(1, Math.floor(points / KEPT_OF_BUCKET)))
    if (version <= first) return 0n
    return version >= last ? buckets - 1n : ((version - first) * buckets) / (last - first + 1n)
  }
}
