import { partToHexDigits, viewBytes } from '#bytes'
import { ADDRESS_LENGTH } from '../address.js'
import type { LedgerStateError } from '../error.js'
import { invalidBcs, type ParseErrorCode } from '../errors.js'

/** Most elements of a sequence in BCS: 2^31 - 1. */
export const MAX_SEQUENCE_LENGTH = 0x7fff_ffff

const EIGHT_BYTES = new DataView(new ArrayBuffer(8))

function u64At(bytes: Uint8Array, at: number): bigint {
  EIGHT_BYTES.setUint32(0, word32At(bytes, at), true)
  EIGHT_BYTES.setUint32(4, word32At(bytes, at + 4), true)
  return EIGHT_BYTES.getBigUint64(0, true)
}

/** Four bytes as a signed number. */
function word32At(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}

/**
 * A cursor over untrusted BCS bytes. It is in this package because type tags, module binaries and write sets are BCS,
 * too; `@ledger-state/bcs` re-exports it. It never reads outside `[offset, end)`; every fault is `invalid_bcs` with the
 * byte offset in `fields.offset`. Integers are little-endian (BCS).
 * @example
 * ```ts
 * import { ByteReader } from '@ledger-state/core'
 *
 * const reader = new ByteReader(Uint8Array.of(7, 0, 1))
 * console.log(reader.readU16(), reader.readBool()) // 7 true
 * reader.expectEnd()
 * ```
 */
export class ByteReader {
  readonly bytes: Uint8Array
  readonly end: number
  offset: number

  constructor(bytes: Uint8Array, offset = 0, end = bytes.length) {
    this.bytes = viewBytes(bytes)
    this.offset = offset
    this.end = end
  }

  get remaining(): number {
    return this.end - this.offset
  }

  /** An error at `offset`, by default the offset of the reader. */
  fault(why: string, offset = this.offset): LedgerStateError<ParseErrorCode> {
    return invalidBcs(why, offset)
  }

  /** Moves past `length` bytes and returns the offset of the first. */
  skip(length: number): number {
    const at = this.offset
    if (length > this.end - at) throw this.fault('unexpected end of input', this.end)
    this.offset = at + length
    return at
  }

  /** Checks that all bytes were read. @throws `invalid_bcs` */
  expectEnd(): void {
    if (this.offset !== this.end)
      throw this.fault(`${this.remaining} bytes are left over after the value: remaining input`)
  }

  /** One byte. @throws `invalid_bcs` at the end of the input */
  readU8(): number {
    return this.bytes[this.skip(1)]!
  }

  /** A byte that is 0 or 1. @throws `invalid_bcs` */
  readBool(): boolean {
    const at = this.skip(1)
    const byte = this.bytes[at]!
    if (byte > 1) throw this.fault(`expected boolean, found byte ${byte}`, at)
    return byte === 1
  }

  /** An option: 0, or 1 and a value that `read` reads. @throws `invalid_bcs` */
  readOption<T>(read: (reader: ByteReader) => T): T | undefined {
    return this.readBool() ? read(this) : undefined
  }

  /** Two bytes, little-endian. @throws `invalid_bcs` at the end of the input */
  readU16(): number {
    const at = this.skip(2)
    return this.bytes[at]! | (this.bytes[at + 1]! << 8)
  }

  /** Four bytes, little-endian. @throws `invalid_bcs` at the end of the input */
  readU32(): number {
    return word32At(this.bytes, this.skip(4)) >>> 0
  }

  /** Eight bytes, little-endian. @throws `invalid_bcs` at the end of the input */
  readU64(): bigint {
    return u64At(this.bytes, this.skip(8))
  }

  /** Reads an unsigned integer of `width` bytes, a multiple of 8. */
  readWideInteger(width: number): bigint {
    const at = this.skip(width)
    let value = 0n
    for (let byte = width - 8; byte >= 0; byte -= 8) value = (value << 64n) | u64At(this.bytes, at + byte)
    return value
  }

  /** Reads a ULEB128 number of at most 32 bits, in its shortest form. */
  readUleb128(): number {
    const start = this.offset
    const first = start < this.end ? this.bytes[start]! : 0x80
    if (first < 0x80) {
      this.offset = start + 1
      return first
    }
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.readU8()
      // Not <<: the fifth byte reaches above bit 31.
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) {
        if (byte === 0 && shift > 0) throw this.fault('ULEB128 encoding was not minimal in size', start)
        if (value > 0xffff_ffff) break
        return value
      }
      if (shift === 28) break
    }
    throw this.fault('ULEB128-encoded integer did not fit in the target size', start)
  }

  /** Reads the length of a sequence. A length above the limit of the format is refused before anything is allocated. */
  readLength(): number {
    const start = this.offset
    const length = this.readUleb128()
    if (length > MAX_SEQUENCE_LENGTH) throw this.fault(`exceeded max sequence length: ${length}`, start)
    return length
  }

  /** The next 32 bytes as an address of 64 hex digits. @throws `invalid_bcs` at the end of the input */
  readAddress(): string {
    const at = this.skip(ADDRESS_LENGTH)
    return partToHexDigits(this.bytes, at, at + ADDRESS_LENGTH)
  }

  /** A view, not a copy, of the next `length` bytes. */
  readBytes(length: number): Uint8Array {
    const at = this.skip(length)
    return this.bytes.subarray(at, at + length)
  }

  /** A view of a length-prefixed byte string. */
  readByteString(): Uint8Array {
    return this.readBytes(this.readLength())
  }
}
