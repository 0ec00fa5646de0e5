import { freeBytes } from '../protocol/free-bytes.js'

const FIRST_CAPACITY = 1_024
/**
 * Capacity up to which the memory doubles. Beyond it, the memory grows by a quarter, so that little is reserved in
 * vain.
 */
const DOUBLED_CAPACITY = 1024 * 1024
const MOST_UTF8_BYTES_PER_UNIT = 3

/**
 * An answer that is built piece by piece, in memory outside of the heap: as strings its pieces would take several times
 * their length. Memory is counted before it is allocated.
 */
export class AnswerBytes {
  readonly #hold: (bytes: number) => void
  #buffer: Buffer = Buffer.alloc(0)
  #length = 0

  /** @param hold counts bytes that are about to be allocated, and throws if there is no room for them */
  constructor(hold: (bytes: number) => void) {
    this.#hold = hold
  }

  get length(): number {
    return this.#length
  }

  /** The bytes so far. Writing more may move them. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  /**
   * Appends a text.
   * @throws `overloaded`
   */
  text(text: string): this {
    const most = text.length * MOST_UTF8_BYTES_PER_UNIT
    this.#reserve(this.#length + most <= this.#buffer.length ? most : Buffer.byteLength(text))
    this.#length += this.#buffer.write(text, this.#length)
    return this
  }

  /**
   * Appends bytes.
   * @throws `overloaded`
   */
  write(bytes: Uint8Array): this {
    this.#reserve(bytes.length)
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
    return this
  }

  /** Forgets the bytes, and keeps the memory for the next ones. */
  clear(): void {
    this.#length = 0
  }

  /** Frees the memory at once; otherwise it stays until the next collection of the old generation. */
  free(): void {
    if (this.#buffer.length > 0) freeBytes(this.#buffer)
    this.#buffer = Buffer.alloc(0)
    this.#length = 0
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    const capacity = this.#buffer.length
    if (needed <= capacity) return
    const grown = capacity < DOUBLED_CAPACITY ? 2 * capacity : Math.ceil(capacity * 1.25)
    const next = Math.max(needed, grown, FIRST_CAPACITY)
    this.#hold(next - capacity)
    const larger = Buffer.allocUnsafeSlow(next)
    this.#buffer.copy(larger, 0, 0, this.#length)
    if (capacity > 0) freeBytes(this.#buffer)
    this.#buffer = larger
  }
}
