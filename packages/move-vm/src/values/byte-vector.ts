import { copyBytes } from '@ledger-state/core/bytes'
import { MOST_VECTOR_BYTES } from '../budget/meter.js'

const SMALLEST = 16

/** The start of a vector whose bytes are its own. */
const OWN = -1

/** A `vector<u8>`: bytes with room to grow, or a part of bytes of the state, which are copied before a change. */
export class ByteVector {
  #bytes: Uint8Array
  #length: number
  /** Offset in bytes that belong to others, or `OWN`. One slot for both: a vector is charged for no more. */
  #start: number

  /**
   * Takes over the bytes: the caller must not write to them afterwards. With a start and a length, the vector is a part of
   * bytes that nobody writes to.
   */
  constructor(bytes: Uint8Array, start = OWN, length = bytes.length) {
    this.#bytes = bytes
    this.#length = length
    this.#start = start
  }

  get length(): number {
    return this.#length
  }

  /** The bytes, without a copy: valid until the vector changes, not to be written to. */
  view(): Uint8Array {
    const start = Math.max(this.#start, 0)
    if (start === 0 && this.#length === this.#bytes.length) return this.#bytes
    const part = this.#bytes.subarray(start, start + this.#length)
    if (this.#start !== OWN) {
      this.#bytes = part
      this.#start = 0
    }
    return part
  }

  /** A vector with the same bytes that changes independently. */
  copy(): ByteVector {
    if (this.#start !== OWN) return new ByteVector(this.#bytes, this.#start, this.#length)
    return new ByteVector(copyBytes(this.#bytes, 0, this.#length))
  }

  /** The byte at an index below `length`. */
  at(index: number): number {
    return this.#bytes[this.#start === OWN ? index : this.#start + index]!
  }

  /** Replaces the byte at an index below `length`. */
  set(index: number, byte: number): void {
    this.#own()[index] = byte
  }

  /** Appends a byte. */
  push(byte: number): void {
    if (this.#length === this.#own().length) this.#grow(this.#length + 1)
    this.#bytes[this.#length++] = byte
  }

  /** Removes the last byte and returns it; undefined if there is none. */
  pop(): number | undefined {
    if (this.#length === 0) return undefined
    this.#length--
    return this.at(this.#length)
  }

  /** Exchanges the bytes at two indexes below `length`. */
  swap(i: number, j: number): void {
    const bytes = this.#own()
    const byte = bytes[i]!
    bytes[i] = bytes[j]!
    bytes[j] = byte
  }

  /** Removes `count` bytes at `start`, within the vector, puts `inserted` there, and returns the removed bytes. */
  splice(start: number, count: number, inserted: Uint8Array): Uint8Array {
    const removed = copyBytes(this.#own(), start, start + count)
    const length = this.#length - count + inserted.length
    if (length > this.#bytes.length) this.#grow(length)
    this.#bytes.copyWithin(start + inserted.length, start + count, this.#length)
    this.#bytes.set(inserted, start)
    this.#length = length
    return removed
  }

  /** The bytes, which are its own from now on. */
  #own(): Uint8Array {
    if (this.#start !== OWN) {
      this.#bytes = copyBytes(this.#bytes, this.#start, this.#start + this.#length)
      this.#start = OWN
    }
    return this.#bytes
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, Math.min(2 * this.#bytes.length, MOST_VECTOR_BYTES), SMALLEST))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}
