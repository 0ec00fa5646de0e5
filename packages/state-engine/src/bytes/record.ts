import { Buffer } from 'node:buffer'
import { storeCorrupt } from '@ledger-state/engine/authoring'
import { checksum } from './checksum.js'

/**
 * Longest record: one overflow page of LMDB (4,096 bytes less its header of 24), so that pages are freed and reused one
 * by one, and a steady prune does not fragment the file. Directories of very deep keys are the exception.
 */
export const MAX_RECORD_LENGTH = 4_072

/** Length of the CRC-32 at the end of every record. It covers all bytes before it, and its seed is made of the key. */
const CHECKSUM_LENGTH = 4

const MOST_COPIED_HERE = 48

/**
 * Builds records in one buffer that it reuses: LMDB copies its input, and each new buffer would cost a call for its
 * address. Numbers are big-endian.
 */
export class RecordBuilder {
  #bytes = Buffer.allocUnsafeSlow(2 * MAX_RECORD_LENGTH)
  // Setters of DataView compile to a store; those of Buffer are calls.
  #view = new DataView(this.#bytes.buffer)
  #length = 0

  get length(): number {
    return this.#length
  }

  begin(): this {
    this.#length = 0
    return this
  }

  u8(value: number): this {
    const at = this.#advance(1)
    this.#view.setUint8(at, value)
    return this
  }

  u16(value: number): this {
    const at = this.#advance(2)
    this.#view.setUint16(at, value)
    return this
  }

  u32(value: number): this {
    const at = this.#advance(4)
    this.#view.setUint32(at, value)
    return this
  }

  u48(value: number): this {
    return this.u16(Math.floor(value / 2 ** 32)).u32(value >>> 0)
  }

  u64(value: bigint): this {
    const at = this.#advance(8)
    this.#view.setBigUint64(at, value)
    return this
  }

  /** Appends a number of `width` bytes, up to six; with 0 bytes, the number must be 0. */
  uint(value: number, width: number): this {
    const at = this.#advance(width)
    if (width > 0) this.#bytes.writeUIntBE(value, at, width)
    return this
  }

  bytes(value: Uint8Array): this {
    const at = this.#advance(value.length)
    this.#bytes.set(value, at)
    return this
  }

  /** Appends a part of some bytes. A short part is copied here, because a view of it would cost more. */
  part(source: Uint8Array, start: number, end: number): this {
    const length = end - start
    const at = this.#advance(length)
    if (length > MOST_COPIED_HERE) this.#bytes.set(new Uint8Array(source.buffer, source.byteOffset + start, length), at)
    else for (let place = 0; place < length; place++) this.#bytes[at + place] = source[start + place]!
    return this
  }

  /** Appends `length` bytes, and returns a view of them, which the caller must fill before it appends anything else. */
  room(length: number): Uint8Array {
    const at = this.#advance(length)
    return this.#bytes.subarray(at, at + length)
  }

  /** Returns the bytes appended since `begin`; valid until the next `begin`. */
  get content(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Ends the record with its checksum, and returns it; valid until the next `begin`. */
  seal(seed: number): Buffer {
    this.u32(checksum(this.#bytes, 0, this.#length, seed))
    return this.#bytes.subarray(0, this.#length)
  }

  #advance(count: number): number {
    const at = this.#length
    this.#length += count
    if (this.#length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * this.#length)
      larger.set(this.#bytes)
      this.#bytes = larger
      this.#view = new DataView(larger.buffer)
    }
    return at
  }
}

/** Returns the content of a record, without its checksum. @throws `store_corrupt` if they do not match */
export function openRecord(record: Buffer, seed: number, what: () => string): Buffer {
  const end = record.length - CHECKSUM_LENGTH
  if (end < 0 || record.readUInt32BE(end) !== checksum(record, 0, end, seed)) {
    throw storeCorrupt(`${what()} does not match its checksum`)
  }
  return record.subarray(0, end)
}
