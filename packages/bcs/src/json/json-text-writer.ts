import { allocateBytes, decodeUtf8, utf8Length, writeAscii, writeHexDigits, writeUtf8 } from '@ledger-state/core/bytes'
import { typeTooLarge } from '../errors.js'

/**
 * Longest JSON text of a value, in bytes. A value has at most 1 MB of BCS, which prints as some MB; only lists of
 * millions of small structs with long names take more.
 */
export const MAX_JSON_TEXT_BYTES = 32_000_000

/** A buffer that a large value made longer than this many bytes is released afterwards. */
const KEPT_BYTES = 1 << 20

/** Bytes that `part` copies at a time. */
export const WORD = 4

const UNLIMITED = Number.MAX_SAFE_INTEGER

/** Most bytes that are reserved for a number or an address and not used. */
const MAX_UNUSED = 68

const ENCODER = new TextEncoder()
const HEX_DIGITS = ENCODER.encode('0123456789abcdef')
/** The two digits of each number below 100. */
const DIGIT_PAIRS = ENCODER.encode(Array.from({ length: 100 }, (_, pair) => String(pair).padStart(2, '0')).join(''))

const QUOTE = 0x22
/** 1 for each byte that needs no escape in a JSON string: printable ASCII without quote and backslash. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x7f && byte !== QUOTE && byte !== 0x5c ? 1 : 0,
)
const MAX_SAFE_INTEGER = BigInt(Number.MAX_SAFE_INTEGER)
const ZERO = 0x30
const MINUS = 0x2d

/** From this length in bytes, the runtime's own conversions are faster than a loop. */
const LONG_HEX = 48
const LONG_TEXT = 256

/**
 * Builds JSON text in UTF-8. Writing bytes costs about half of joining strings for small values, and a fifth for long
 * lists (`pnpm bench codec`), and servers send bytes anyway.
 */
export class JsonTextWriter {
  bytes = allocateBytes(4_096)
  #view = viewOf(this.bytes)
  /** Bytes of the text. Setting it to an earlier length forgets what was appended since. */
  length = 0
  /** Where the value begins whose text is limited, and its longest text. */
  #start = 0
  #maxLength = UNLIMITED

  /** The text so far, in place: valid until something is appended. */
  get written(): Uint8Array {
    return this.bytes.subarray(0, this.length)
  }

  /**
   * Makes room for `count` more bytes.
   * @throws `type_too_large` if the text of the value would be longer than its limit
   */
  reserve(count: number): void {
    if (this.length + count > this.bytes.length) this.#grow(this.length + count)
  }

  #grow(needed: number): void {
    const most = this.#start + this.#maxLength + MAX_UNUSED
    if (needed > most) throw typeTooLarge.jsonTooLong(this.#maxLength)
    const grown = allocateBytes(Math.min(Math.max(needed, this.bytes.length * 2), most))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
    this.#view = viewOf(grown)
  }

  /** Appends a byte. */
  byte(value: number): void {
    this.reserve(1)
    this.bytes[this.length++] = value
  }

  /** Appends bytes of JSON text, such as punctuation and member names. */
  raw(text: Uint8Array): void {
    const count = text.length
    this.reserve(count)
    const { bytes } = this
    let at = this.length
    for (let index = 0; index < count; index++) bytes[at++] = text[index]!
    this.length = at
  }

  /**
   * Appends bytes of JSON text from `start` to `end`, four at a time. `text` must have `WORD` more bytes than the longest
   * part.
   */
  part(text: DataView, start: number, end: number): void {
    const count = end - start
    this.reserve(count + WORD)
    const view = this.#view
    const at = this.length
    for (let done = 0; done < count; done += WORD) view.setInt32(at + done, text.getInt32(start + done))
    this.length = at + count
  }

  /** Appends a whole number from 0 to 2^53 - 1. */
  decimal(value: number): void {
    this.reserve(16)
    if (value < 1e9) {
      this.#digits(value, digitCount(value))
      return
    }
    const high = Math.floor(value / 1e9)
    this.#digits(high, digitCount(high))
    this.#digits(value - high * 1e9, 9)
  }

  /** Appends a u64 in quotes, given as its halves. */
  quotedU64(low: number, high: number): void {
    this.reserve(24)
    this.bytes[this.length++] = QUOTE
    if (high < 0x20_0000) {
      this.decimal(high * 0x1_0000_0000 + low)
    } else {
      // Long division by 10^9 in steps of 16 bits. A double holds each step exactly.
      let rest = high % 1e9
      let quotient = Math.floor(high / 1e9)
      for (const half of [low >>> 16, low & 0xffff]) {
        const step = rest * 0x1_0000 + half
        const digit = Math.floor(step / 1e9)
        quotient = quotient * 0x1_0000 + digit
        rest = step - digit * 1e9
      }
      this.decimal(quotient)
      this.#digits(rest, 9)
    }
    this.bytes[this.length++] = QUOTE
  }

  /** Appends a number, which is not negative, in quotes. */
  quotedBigint(value: bigint): void {
    this.byte(QUOTE)
    if (value <= MAX_SAFE_INTEGER) this.decimal(Number(value))
    else this.ascii(String(value))
    this.byte(QUOTE)
  }

  /** Appends a safe integer. */
  signedDecimal(value: number): void {
    if (value < 0) this.byte(MINUS)
    this.decimal(Math.abs(value))
  }

  /** Writes `count` decimal digits of a number below 10^9, from the last to the first. */
  #digits(value: number, count: number): void {
    const { bytes } = this
    const start = this.length
    let rest = value | 0
    let at = start + count
    while (at - start >= 2) {
      const quotient = (rest / 100) | 0
      const pair = (rest - quotient * 100) << 1
      bytes[--at] = DIGIT_PAIRS[pair + 1]!
      bytes[--at] = DIGIT_PAIRS[pair]!
      rest = quotient
    }
    if (at > start) bytes[--at] = ZERO + rest
    this.length = start + count
  }

  /** Appends a copy of the text between `start` and `end`. */
  copyWithin(start: number, end: number): void {
    this.reserve(end - start)
    this.bytes.copyWithin(this.length, start, end)
    this.length += end - start
  }

  /** Moves the text after `start` to `target`, and overwrites the previous text there. */
  moveBack(start: number, target: number): void {
    this.bytes.copyWithin(target, start, this.length)
    this.length -= start - target
  }

  /** Appends ASCII text without quotes or escapes. */
  ascii(text: string): void {
    this.reserve(text.length)
    this.length += writeAscii(this.bytes, this.length, text)
  }

  /** Appends a text or a list of texts as JSON. It is slow. */
  json(value: string | readonly string[]): void {
    this.text(JSON.stringify(value))
  }

  /** Appends a text that is JSON. */
  text(text: string): void {
    this.reserve(utf8Length(text))
    this.length += writeUtf8(this.bytes, this.length, text)
  }

  /** Appends `0x` and two digits for each byte of `source[start, end)`. */
  hex(source: Uint8Array, start: number, end: number): void {
    const count = end - start
    this.reserve(2 + count * 2)
    const { bytes } = this
    let at = this.length
    bytes[at++] = ZERO
    bytes[at++] = 0x78
    if (count > LONG_HEX) {
      at += writeHexDigits(bytes, at, source, start, end)
    } else {
      for (let index = start; index < end; index++) {
        const byte = source[index]!
        bytes[at++] = HEX_DIGITS[byte >> 4]!
        bytes[at++] = HEX_DIGITS[byte & 15]!
      }
    }
    this.length = at
  }

  /** Same as `hex`, in quotes. */
  quotedHex(source: Uint8Array, start: number, end: number): void {
    this.byte(QUOTE)
    this.hex(source, start, end)
    this.byte(QUOTE)
  }

  /** Appends an address of 32 bytes in quotes: see `address`. */
  quotedAddress(source: Uint8Array, start: number): void {
    this.reserve(68)
    this.bytes[this.length++] = QUOTE
    this.#address(source, start)
    this.bytes[this.length++] = QUOTE
  }

  /** Appends an address of 32 bytes: `0x` and its digits without leading zeros, `0x0` for zero. */
  address(source: Uint8Array, start: number): void {
    this.reserve(66)
    this.#address(source, start)
  }

  #address(source: Uint8Array, start: number): void {
    const { bytes } = this
    const end = start + 32
    let first = start
    while (first < end - 1 && source[first] === 0) first++
    let at = this.length
    bytes[at++] = ZERO
    bytes[at++] = 0x78
    if (source[first]! >= 16) bytes[at++] = HEX_DIGITS[source[first]! >> 4]!
    bytes[at++] = HEX_DIGITS[source[first]! & 15]!
    for (let index = first + 1; index < end; index++) {
      const byte = source[index]!
      bytes[at++] = HEX_DIGITS[byte >> 4]!
      bytes[at++] = HEX_DIGITS[byte & 15]!
    }
    this.length = at
  }

  /**
   * Appends UTF-8 bytes as a JSON string. Bytes that are not UTF-8 are printed in hex with a note, as the reference
   * does.
   */
  quotedText(source: Uint8Array, start: number, end: number): void {
    if (end - start <= LONG_TEXT && this.#quotedPlain(source, start, end)) return
    const text = decodeUtf8(source.subarray(start, end))
    if (text === undefined) {
      this.byte(QUOTE)
      this.ascii('Unparsable utf-8 ')
      this.hex(source, start, end)
      this.byte(QUOTE)
      return
    }
    this.json(text)
  }

  #quotedPlain(source: Uint8Array, start: number, end: number): boolean {
    this.reserve(end - start + 2)
    this.bytes[this.length] = QUOTE
    if (!this.#plainAt(this.length + 1, source, start, end)) return false
    this.bytes[this.length++] = QUOTE
    return true
  }

  /** Copies a part of a string. If it has characters that a string escapes, it writes nothing and returns false. */
  plain(source: Uint8Array, start: number, end: number): boolean {
    this.reserve(end - start)
    return this.#plainAt(this.length, source, start, end)
  }

  #plainAt(target: number, source: Uint8Array, start: number, end: number): boolean {
    const { bytes } = this
    let at = target
    for (let index = start; index < end; index++) {
      const byte = source[index]!
      if (PLAIN[byte] === 0) return false
      bytes[at++] = byte
    }
    this.length = at
    return true
  }

  /** Ends the text and returns a copy of its bytes. */
  takeBytes(): Uint8Array {
    const taken = allocateBytes(this.length)
    taken.set(this.bytes.subarray(0, this.length))
    this.reset()
    return taken
  }

  /** Ends the text and returns it. */
  takeText(): string {
    const text = decodeUtf8(this.bytes.subarray(0, this.length))!
    this.reset()
    return text
  }

  /** Limits the text of the next value to `maxLength` bytes; without an argument, the text is no longer limited. */
  limit(maxLength = UNLIMITED): void {
    this.#start = this.length
    this.#maxLength = maxLength
  }

  /**
   * Checks the length of the text of a value, which may exceed its limit if the buffer was large enough.
   * @throws `type_too_large` if it does
   */
  expectFits(): void {
    if (this.length - this.#start > this.#maxLength) throw typeTooLarge.jsonTooLong(this.#maxLength)
  }

  /** Begins a new text. */
  reset(): void {
    this.length = 0
    this.limit()
    if (this.bytes.length <= KEPT_BYTES) return
    this.bytes = allocateBytes(4_096)
    this.#view = viewOf(this.bytes)
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

function digitCount(value: number): number {
  if (value < 1e4) return value < 100 ? (value < 10 ? 1 : 2) : value < 1e3 ? 3 : 4
  if (value < 1e6) return value < 1e5 ? 5 : 6
  return value < 1e8 ? (value < 1e7 ? 7 : 8) : 9
}
