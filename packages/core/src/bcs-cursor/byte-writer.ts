import { allocateBytes, allocatePooled, utf8Length, writeHexBytes, writeUtf8 } from '#bytes'
import { ADDRESS_LENGTH, writeAddressDigits } from '../address.js'
import { copyBytes } from '../bytes/copy-bytes.js'
import { hexDigitValue } from '../bytes/hex-digit.js'
import { invalidHex } from '../errors.js'
import { badHexDigit } from '../hex.js'

/** Bytes of the first buffer. Node.js cuts it from a pool, in a tenth of the time of an array of its own. */
const FIRST_BYTES = 256
/** A buffer that grew beyond this many bytes is released by `reset`. */
const KEPT_BYTES = 1 << 20
/** Up to this number of bytes, a loop is faster than the runtime's copy. */
const SHORT_COPY = 64
/** Up to this number of bytes, a copy in the pool takes less time. */
const LONGEST_POOLED = 512
/** From this number of bytes, the runtime's own conversion to hex is faster than a loop. */
const LONG_HEX = 32

const EIGHT_BYTES = new DataView(new ArrayBuffer(8))

/**
 * Builds BCS bytes. The caller checks that values are in range. `@ledger-state/bcs` exports it again.
 * @example
 * ```ts
 * import { ByteWriter, bytesToHex } from '@ledger-state/core'
 *
 * console.log(bytesToHex(new ByteWriter().u16(7).string('ab').toBytes())) // 0x0700026162
 * ```
 */
export class ByteWriter {
  #bytes = allocateBytes(FIRST_BYTES)
  #length = 0

  #reserve(length: number): number {
    const at = this.#length
    const needed = at + length
    if (needed > this.#bytes.length) {
      const grown = allocateBytes(Math.max(needed, this.#bytes.length * 2))
      grown.set(this.#bytes.subarray(0, at))
      this.#bytes = grown
    }
    this.#length = needed
    return at
  }

  get length(): number {
    return this.#length
  }

  /** Appends one byte. */
  u8(value: number): this {
    const at = this.#reserve(1)
    this.#bytes[at] = value
    return this
  }

  /** Appends a byte, 0 or 1. */
  bool(value: boolean): this {
    return this.u8(value ? 1 : 0)
  }

  /** Appends two bytes, little-endian. */
  u16(value: number): this {
    const at = this.#reserve(2)
    this.#bytes[at] = value
    this.#bytes[at + 1] = value >> 8
    return this
  }

  /** Appends four bytes, little-endian. */
  u32(value: number): this {
    const at = this.#reserve(4)
    this.#word(at, value, 4)
    return this
  }

  /** Appends eight bytes, little-endian. */
  u64(value: bigint): this {
    return this.integer(value, 8)
  }

  /** Appends a whole number from 0 to 2^53 - 1 in `width` bytes, which must be enough for it. */
  unsigned(value: number, width: number): this {
    if (width >= 8) return this.unsignedHalves(value | 0, (value / 0x1_0000_0000) | 0, width)
    const at = this.#reserve(width)
    this.#word(at, value, width)
    return this
  }

  /** Appends a whole number below 2^64, given as its lower and upper 32 bits, in `width` bytes, at least 8. */
  unsignedHalves(low: number, high: number, width: number): this {
    const at = this.#reserve(width)
    const bytes = this.#bytes
    bytes[at] = low
    bytes[at + 1] = low >>> 8
    bytes[at + 2] = low >>> 16
    bytes[at + 3] = low >>> 24
    bytes[at + 4] = high
    bytes[at + 5] = high >>> 8
    bytes[at + 6] = high >>> 16
    bytes[at + 7] = high >>> 24
    for (let byte = 8; byte < width; byte++) bytes[at + byte] = 0
    return this
  }

  /** Appends `value` in little-endian two's complement of `width` bytes. */
  integer(value: bigint, width: number): this {
    const at = this.#reserve(width)
    let rest = BigInt.asUintN(width * 8, value)
    for (let byte = 0; byte < width; byte += 8) {
      EIGHT_BYTES.setBigUint64(0, rest, true)
      this.#word(at + byte, EIGHT_BYTES.getInt32(0, true), Math.min(width - byte, 4))
      this.#word(at + byte + 4, EIGHT_BYTES.getInt32(4, true), Math.min(width - byte - 4, 4))
      rest >>= 64n
    }
    return this
  }

  /** Writes the lowest `count` bytes of `value`; nothing if `count` is 0 or less. */
  #word(at: number, value: number, count: number): void {
    const bytes = this.#bytes
    for (let byte = 0; byte < count; byte++) bytes[at + byte] = value >>> (8 * byte)
  }

  /** Appends a whole number below 2^32 in ULEB128, seven bits a byte. */
  uleb128(value: number): this {
    let rest = value
    while (rest >= 0x80) {
      this.u8((rest & 0x7f) | 0x80)
      rest = Math.floor(rest / 128)
    }
    return this.u8(rest)
  }

  /** Inserts a whole number below 2^32 in ULEB128 before the bytes that were written since `length` was `at`. */
  insertUleb128(at: number, value: number): this {
    const end = this.#length
    this.uleb128(value)
    const size = this.#length - end
    const bytes = this.#bytes
    if (size === 1) {
      bytes.copyWithin(at + 1, at, end)
      bytes[at] = value
    } else {
      const number = copyBytes(bytes, end, end + size)
      bytes.copyWithin(at + size, at, end)
      bytes.set(number, at)
    }
    return this
  }

  /** Appends the bytes as they are, without a length. */
  bytes(bytes: Uint8Array): this {
    const { length } = bytes
    const at = this.#reserve(length)
    const target = this.#bytes
    if (length > SHORT_COPY) target.set(bytes, at)
    else for (let index = 0; index < length; index++) target[at + index] = bytes[index]!
    return this
  }

  /** Appends `source[start, end)` as it is. A view of a short part takes longer to make than its copy. */
  part(source: Uint8Array, start: number, end: number): this {
    const length = end - start
    if (length > SHORT_COPY) return this.bytes(source.subarray(start, end))
    const at = this.#reserve(length)
    const target = this.#bytes
    for (let index = 0; index < length; index++) target[at + index] = source[start + index]!
    return this
  }

  /** Appends a length and that many bytes. */
  byteString(bytes: Uint8Array): this {
    return this.uleb128(bytes.length).bytes(bytes)
  }

  /**
   * Appends the 32 bytes of an address, given as `parseAddress` reads it. No array is made in between.
   * @throws `invalid_address`; nothing is written then
   */
  address(text: string): this {
    return this.addressDigits(text, text.startsWith('0x') ? 2 : 0, text.length)
  }

  /**
   * Appends the 32 bytes of an address, given as the 1 to 64 hex digits in `text[start, end)`.
   * @throws `invalid_address`; nothing is written then
   */
  addressDigits(text: string, start: number, end: number): this {
    const at = this.#reserve(ADDRESS_LENGTH)
    try {
      writeAddressDigits(this.#bytes, at, text, start, end)
    } catch (error) {
      this.#length = at
      throw error
    }
    return this
  }

  /**
   * Appends a length and that many bytes, given in hex as `hexToBytes` reads it. No array is made in between.
   * @throws `invalid_hex`; nothing is written then
   */
  hexString(text: string): this {
    const start = text.startsWith('0x') ? 2 : 0
    const digits = text.length - start
    if (digits % 2 !== 0) throw invalidHex(text, 'odd number of digits')
    const count = digits / 2
    const mark = this.#length
    this.uleb128(count)
    const at = this.#reserve(count)
    const isHex =
      count > LONG_HEX ? writeHexBytes(this.#bytes, at, text, start) === count : this.#shortHex(text, start, at)
    if (isHex) return this
    this.#length = mark
    throw invalidHex(text, badHexDigit(text, start))
  }

  #shortHex(text: string, start: number, target: number): boolean {
    const bytes = this.#bytes
    let faults = 0
    let at = target
    for (let index = start; index < text.length; index += 2) {
      const high = hexDigitValue(text.charCodeAt(index))
      const low = hexDigitValue(text.charCodeAt(index + 1))
      // The value of a character that is not a digit is negative.
      faults |= high | low
      bytes[at++] = (high << 4) | low
    }
    return faults >= 0
  }

  /** Appends the length of a text in bytes, and its UTF-8. */
  string(text: string): this {
    if (text.length < 64 && this.shortAscii(text, 0, text.length)) return this
    const length = utf8Length(text)
    this.uleb128(length)
    const at = this.#reserve(length)
    writeUtf8(this.#bytes, at, text)
    return this
  }

  /**
   * Appends the length and the bytes of an ASCII text, `text[start, end)`, of at most 127 characters. If it has other
   * characters, it appends nothing and returns false.
   */
  shortAscii(text: string, start: number, end: number): boolean {
    const length = end - start
    const at = this.#reserve(length + 1)
    const bytes = this.#bytes
    bytes[at] = length
    for (let index = 0; index < length; index++) {
      const charCode = text.charCodeAt(start + index)
      if (charCode > 0x7f) {
        this.#length = at
        return false
      }
      bytes[at + 1 + index] = charCode
    }
    return true
  }

  /** Copies the written bytes. */
  toBytes(): Uint8Array {
    const length = this.#length
    if (length > SHORT_COPY) return copyBytes(this.#bytes, 0, length)
    const bytes = this.#bytes
    const copy = new Uint8Array(length)
    for (let at = 0; at < length; at++) copy[at] = bytes[at]!
    return copy
  }

  /** Same as `toBytes`, in memory as that of `allocatePooled`: for copies that nobody keeps for long. */
  toPooledBytes(): Uint8Array {
    const length = this.#length
    if (length > LONGEST_POOLED) return this.toBytes()
    const bytes = this.#bytes
    const copy = allocatePooled(length)
    for (let at = 0; at < length; at++) copy[at] = bytes[at]!
    return copy
  }

  /** Discards the written bytes. */
  reset(): void {
    this.#length = 0
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = allocateBytes(FIRST_BYTES)
  }
}
