import type { ByteReader } from './byte-reader.js'

/** The keys of one map that is being read: maps in BCS are sorted by the bytes of their keys, each key once. */
export class AscendingKeys {
  readonly #reader: ByteReader
  #start = -1
  #end = -1

  constructor(reader: ByteReader) {
    this.#reader = reader
  }

  /**
   * Checks the key that starts at `start` and ends where the reader is: it must be greater than the previous key. The
   * bytes are compared in place: a view of each key would take most of the time of a map with short keys.
   * @throws `invalid_bcs`
   */
  expectNext(start: number): void {
    const reader = this.#reader
    if (this.#start >= 0 && !this.#isAbove(start)) {
      throw reader.fault('map keys are not in ascending order, or repeated', start)
    }
    this.#start = start
    this.#end = reader.offset
  }

  #isAbove(start: number): boolean {
    const { bytes, offset } = this.#reader
    const previous = this.#start
    const length = offset - start
    const previousLength = this.#end - previous
    const shared = Math.min(length, previousLength)
    for (let at = 0; at < shared; at++) {
      const order = bytes[start + at]! - bytes[previous + at]!
      if (order !== 0) return order > 0
    }
    return length > previousLength
  }
}
