import type { Meter } from '../budget/meter.js'

/**
 * Bytes of a value that are copied or compared at once, in a fraction of a millisecond if its parts are small structs.
 */
export const SLICE_BYTES = 1 << 16

/**
 * Parts of a value that are left to do, for work done in slices. The innermost parts, which were begun last, continue
 * first. So there are never more entries than the value has levels.
 */
export class UnfinishedParts<Parts> {
  readonly #meter: Meter
  readonly #sliceBytes: number
  /** Undefined until something is deferred, as for all small values. */
  #parts: Parts[] | undefined
  /** Parts that were deferred in this slice, the innermost first. */
  #deferred: Parts[] | undefined
  #sliceEnd = 0

  constructor(meter: Meter, sliceBytes = SLICE_BYTES) {
    this.#meter = meter
    this.#sliceBytes = sliceBytes
  }

  get length(): number {
    return this.#parts?.length ?? 0
  }

  get isSliceSpent(): boolean {
    return this.#meter.bytes >= this.#sliceEnd
  }

  beginSlice(): void {
    this.#sliceEnd = this.#meter.bytes + this.#sliceBytes
  }

  spendSlice(): void {
    this.#sliceEnd = 0
  }

  /** Defers parts to a later slice. Code that works on the enclosing value then defers the rest of that value. */
  defer(parts: Parts): void {
    this.#deferred ??= []
    this.#deferred.push(parts)
  }

  /** The next parts to continue with; undefined if the slice is spent, or nothing is left. */
  take(): Parts | undefined {
    return this.isSliceSpent ? undefined : this.#parts?.pop()
  }

  endSlice(): void {
    const deferred = this.#deferred
    if (!deferred) return
    this.#parts ??= []
    while (deferred.length > 0) this.#parts.push(deferred.pop()!)
  }

  clear(): void {
    this.#parts = undefined
    this.#deferred = undefined
  }
}
