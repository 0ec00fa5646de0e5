import { Buffer } from 'node:buffer'
import { storeCorrupt } from '@ledger-state/engine/authoring'
import { checksum } from './checksum.js'

/** Most records are shorter: the buffer grows for a longer mark. */
const FIRST_BYTES = 8_192

/** Length of the CRC-32 at the end of every record. It covers all bytes before it, and its seed is made of the key. */
const CHECKSUM_LENGTH = 4

/**
 * Builds records in one buffer that it reuses: LMDB copies its input, and each new buffer would cost a call for its
 * address. Numbers are big-endian.
 */
export class RecordBuilder {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  // Setters of DataView compile to a store; those of Buffer are calls.
  #view = new DataView(this.#bytes.buffer)
  #length = 0

  begin(): this {
    this.#length = 0
    return this
  }

  u8(value: number): this {
    const at = this.#advance(1)
    this.#view.setUint8(at, value)
    return this
  }

  u32(value: number): this {
    const at = this.#advance(4)
    this.#view.setUint32(at, value)
    return this
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
