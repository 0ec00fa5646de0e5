import type { Change } from './history.js'

/** Most changes that are kept of a bucket: the first, the last, the least and the greatest. */
const KEPT_OF_BUCKET = 4

interface Measured<T> {
  readonly change: Change<T>
  readonly measure: bigint
}

interface Bucket<T> {
  /** Version of the change that opened the bucket. */
  readonly openedAt: bigint
  /** The first change that cannot be read or, if all can, the first change. */
  first: Change<T>
  last: Change<T>
  /** The least of the values that can be read. */
  least: Measured<T> | undefined
  greatest: Measured<T> | undefined
}

/** Range of versions that a `ChangeSampler` samples, and number of changes that it keeps. */
export interface SampledRange {
  /** First and last version, both included. */
  readonly first: bigint
  readonly last: bigint
  /** Most changes that are kept, at least 4. */
  readonly points: number
}

/**
 * Keeps a bounded sample of the changes of a number, so that a curve shows every peak. It divides the versions of the
 * range into equal buckets, and keeps the first, last, least and greatest change of each bucket. If a bucket has
 * changes that cannot be read, it keeps the first of them instead of the first change. Add changes in the order of
 * their versions, ascending or descending. Memory is bounded by the number of points.
 */
export class ChangeSampler<T> {
  readonly #range: SampledRange
  /** Buckets by their numbers, in the order of the changes. */
  readonly #buckets = new Map<bigint, Bucket<T>>()

  constructor(range: SampledRange) {
    this.#range = range
  }

  /** Adds the next change. `measure` is not called for a change that cannot be read. */
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

  /** The kept changes, each once, the first added first. */
  *kept(): Generator<Change<T>> {
    for (const { openedAt, first, last, least, greatest } of this.#buckets.values()) {
      const isDescending = last.version < openedAt
      const changes = [...new Set([first, least?.change, greatest?.change, last])].filter((one) => one !== undefined)
      yield* changes.sort((a, b) => (a.version < b.version === isDescending ? 1 : -1))
    }
  }

  /**
   * The bucket of a version. Versions outside the range belong to the nearest bucket, such as the version that wrote
   * the first value of the window.
   */
  #bucketAt(version: bigint): bigint {
    const { first, last, points } = this.#range
    const buckets = BigInt(Math.max(1, Math.floor(points / KEPT_OF_BUCKET)))
    if (version <= first) return 0n
    return version >= last ? buckets - 1n : ((version - first) * buckets) / (last - first + 1n)
  }
}
