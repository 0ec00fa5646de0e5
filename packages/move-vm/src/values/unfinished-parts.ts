import type { Meter } from '../budget/meter.js'

/** Bytes that a value is copied or compared in at once: a fraction of a millisecond where its parts are small structs. */
export const SLICE_BYTES = 1 << 16

/**
 * What is left of work on a value that is done in slices. The parts that were begun last, the innermost ones, continue first, so
 * that there are never more than the value has levels.
 */
export class UnfinishedParts<Parts> {
  readonly #meter: Meter
  readonly #parts: Parts[] = []
  /** Deferred in this slice, the innermost first. */
  readonly #deferred: Parts[] = []
  #sliceEnd = 0

  constructor(meter: Meter) {
    this.#meter = meter
  }

  get length(): number {
    return this.#parts.length
  }

  get isSliceSpent(): boolean {
    return this.#meter.bytes >= this.#sliceEnd
  }

  beginSlice(): void {
    this.#sliceEnd = this.#meter.bytes + SLICE_BYTES
  }

  spendSlice(): void {
    this.#sliceEnd = 0
  }

  /** Leaves parts to a later slice. Whoever works on what they are part of defers the rest of that next. */
  defer(parts: Parts): void {
    this.#deferred.push(parts)
  }

  /** The next parts to continue with; undefined where the slice is spent, or nothing is left. */
  take(): Parts | undefined {
    return this.isSliceSpent ? undefined : this.#parts.pop()
  }

  endSlice(): void {
    while (this.#deferred.length > 0) this.#parts.push(this.#deferred.pop()!)
  }

  clear(): void {
    this.#parts.length = 0
    this.#deferred.length = 0
  }
}
