import type { Change } from './history.js'

/** Changes kept of each bucket: its first and last, its least and its greatest value. */
const KEPT_OF_BUCKET = 4

interface Measured<T> {
  readonly change: Change<T>
  readonly measure: bigint
}

interface Bucket<T> {
  /** Version of the change that was added first. */
  readonly openedAt: bigint
  /** The first change, or the first that cannot be read. */
  first: Change<T>
  last: Change<T>
  /** Least of the values that can be read. */
  least: Measured<T> | undefined
  greatest: Measured<T> | undefined
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
 * Keeps a bounded sample of the changes of a number, whose curve shows every peak: the versions of the range are divided
 * into equal buckets, and the first and last change and the least and greatest value of each bucket are kept; where
 * changes cannot be read, the first of those in place of the first change. Changes are added in the order of their versions,
 * up or down. Memory is bounded by the points.
 */
export class ChangeSampler<T> {
  readonly #range: SampledRange
  /** Buckets by their numbers, in the order in which they were begun, which is that of the changes. */
  readonly #buckets = new Map<bigint, Bucket<T>>()

  constructor(range: SampledRange) {
    this.#range = range
  }

  /** Adds the next change. `measure` is not asked about a change that cannot be read. */
  add(change: Change<T>, measure: (value: T) => bigint): void {
    const at = this.#bucketAt(change.version)
    let bucket = this.#buckets.get(at)
    if (!bucket) {
      bucket = { openedAt: change.version, first: change, last: change, least: undefined, greatest: undefined }
      this.#buckets.set(at, bucket)
    }
    bucket.last = change
    if (change.error) {
      if (!bucket.first.error) bucket.first = change
      return
    }
    const measured = { change, measure: measure(change.value) }
    if (!bucket.least || measured.measure < bucket.least.measure) bucket.least = measured
    if (!bucket.greatest || measured.measure > bucket.greatest.measure) bucket.greatest = measured
  }

  /** What is kept, each change once, in the order in which they were added. */
  *kept(): Generator<Change<T>> {
    for (const { openedAt, first, last, least, greatest } of this.#buckets.values()) {
      const isDescending = last.version < openedAt
      const changes = [...new Set([first, least?.change, greatest?.change, last])].filter((one) => one !== undefined)
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
