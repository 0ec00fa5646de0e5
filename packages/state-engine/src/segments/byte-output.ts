import { Buffer } from 'node:buffer'

/** Most bytes of a varint: 7 bits each, of numbers below 2^53. */
export const MAX_VARINT_LENGTH = 8
/** Length up to which bytes are copied one by one, as a native call would take longer. */
const COPIED_HERE = 40
const FIRST_BYTES = 4_096

/** Bytes that are appended to a buffer, which grows. Numbers are little-endian; varints have 7 bits a byte, low first. */
export class ByteOutput {
  bytes: Uint8Array
  length = 0
  #buffer: Buffer

  constructor(size = FIRST_BYTES) {
    this.#buffer = Buffer.allocUnsafeSlow(size)
    this.bytes = toBytes(this.#buffer)
  }

  /** Makes room for `count` further bytes, and returns the buffer, which is another one if the old one was too short. */
  reserve(count: number): Uint8Array {
    if (this.length + count > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.length + count, 2 * this.#buffer.length))
      this.#buffer.copy(larger, 0, 0, this.length)
      this.#buffer = larger
      this.bytes = toBytes(larger)
    }
    return this.bytes
  }

  /** Appends a number below 2^53. */
  varint(value: number): void {
    const bytes = this.reserve(MAX_VARINT_LENGTH)
    let at = this.length
    let rest = value
    while (rest > 127) {
      bytes[at++] = (rest & 127) | 128
      rest = rest < 0x8000_0000 ? rest >>> 7 : Math.floor(rest / 128)
    }
    bytes[at++] = rest
    this.length = at
  }

  /** Appends four bytes, the lowest first. */
  u32(value: number): void {
    this.reserve(4)
    this.length = this.#buffer.writeUInt32LE(value, this.length)
  }

  /** Appends `source[start, end)`. */
  part(source: Uint8Array, start: number, end: number): void {
    const count = end - start
    const bytes = this.reserve(count)
    let to = this.length
    if (count <= COPIED_HERE) for (let at = start; at < end; at++) bytes[to++] = source[at]!
    else bytes.set(partOf(source, start, end), to)
    this.length += count
  }

  /** Appends bytes of 0. */
  zeros(count: number): void {
    this.reserve(count).fill(0, this.length, this.length + count)
    this.length += count
  }

  /** A view of the appended bytes, valid until the next append. */
  view(): Buffer {
    return this.#buffer.subarray(0, this.length)
  }
}

/** A view of `bytes[start, end)`: a plain typed array, because `subarray` of a Buffer takes several times as long. */
export function partOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  if (start === 0 && end === bytes.length) return bytes
  return new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start)
}

/** Copy of bytes from `start` to `end`, in Node's pool of memory: a separate typed array costs ten times as much. */
export function copyPart(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const copy = Buffer.allocUnsafe(end - start)
  copy.set(partOf(bytes, start, end))
  return copy
}

/** Bytes of a buffer as a plain typed array, so that all bytes that a search reads are of one class. */
export function toBytes(buffer: Uint8Array): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
}
