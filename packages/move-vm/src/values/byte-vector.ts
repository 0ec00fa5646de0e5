import { copyBytes } from '@ledger-state/core/bytes'
import { MOST_VECTOR_BYTES } from '../budget/meter.js'

const SMALLEST = 16

/** A `vector<u8>`: bytes with room to grow. */
export class ByteVector {
  #bytes: Uint8Array
  #length: number

  /** Takes over the bytes: the caller must not write to them afterwards. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#length = bytes.length
  }

  get length(): number {
    return this.#length
  }

  /** The bytes, without a copy: valid until the vector changes, not to be written to. */
  view(): Uint8Array {
    return this.#length === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.#length)
  }

  /** A vector with the same bytes that changes independently. */
  copy(): ByteVector {
    return new ByteVector(copyBytes(this.#bytes, 0, this.#length))
  }

  /** The byte at an index below `length`. */
  at(index: number): number {
    return this.#bytes[index]!
  }

  /** Replaces the byte at an index below `length`. */
  set(index: number, byte: number): void {
    this.#bytes[index] = byte
  }

  /** Appends a byte. */
  push(byte: number): void {
    if (this.#length === this.#bytes.length) this.#grow(this.#length + 1)
    this.#bytes[this.#length++] = byte
  }

  /** Removes the last byte and returns it; undefined if there is none. */
  pop(): number | undefined {
    return this.#length === 0 ? undefined : this.#bytes[--this.#length]
  }

  /** Exchanges the bytes at two indexes below `length`. */
  swap(i: number, j: number): void {
    const byte = this.#bytes[i]!
    this.#bytes[i] = this.#bytes[j]!
    this.#bytes[j] = byte
  }

  /** Removes `count` bytes at `start`, within the vector, puts `inserted` there, and returns the removed bytes. */
  splice(start: number, count: number, inserted: Uint8Array): Uint8Array {
    const removed = copyBytes(this.#bytes, start, start + count)
    const length = this.#length - count + inserted.length
    if (length > this.#bytes.length) this.#grow(length)
    this.#bytes.copyWithin(start + inserted.length, start + count, this.#length)
    this.#bytes.set(inserted, start)
    this.#length = length
    return removed
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, Math.min(2 * this.#bytes.length, MOST_VECTOR_BYTES), SMALLEST))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}
