import { Buffer } from 'node:buffer'
import { invalidHex } from './errors.js'

/** Value of each ASCII hex digit, 255 for every other character. */
const DIGIT_VALUE = new Uint8Array(128).fill(255)
for (let value = 0; value < 16; value++) {
  DIGIT_VALUE[value.toString(16).charCodeAt(0)] = value
  DIGIT_VALUE[value.toString(16).toUpperCase().charCodeAt(0)] = value
}

/** The value 0 to 15 of a hex digit given as UTF-16 code, or -1. */
export function hexDigitValue(charCode: number): number {
  const value = charCode < 128 ? DIGIT_VALUE[charCode]! : 255
  return value === 255 ? -1 : value
}

/** Lower-case hex digits, two per byte, without `0x`. */
export function bytesToHexDigits(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

/** `0x` and two lower-case digits per byte; zeros are never trimmed. */
export function bytesToHex(bytes: Uint8Array): string {
  return `0x${bytesToHexDigits(bytes)}`
}

/** Names the first character from `start` on that is no hex digit, and its position from there. There must be one. */
export function badHexDigit(text: string, start: number): string {
  let at = start
  while (hexDigitValue(text.charCodeAt(at)) >= 0) at++
  return `invalid character '${String.fromCodePoint(text.codePointAt(at)!)}' at position ${at - start}`
}

/**
 * Bytes of hex text in any case, with or without `0x`; `""` and `"0x"` are zero bytes.
 * @throws `invalid_hex` naming the first bad character and its position after the `0x`, or an odd number of digits.
 */
export function hexToBytes(text: string): Uint8Array {
  const start = text.startsWith('0x') ? 2 : 0
  const digits = text.length - start
  if (digits % 2 !== 0) throw invalidHex(text, 'odd number of digits')
  // Buffer's own decoder is fast but stops in silence at a bad character.
  const bytes = Buffer.from(start === 0 ? text : text.slice(2), 'hex')
  if (bytes.length * 2 !== digits) {
    throw invalidHex(text, badHexDigit(text, start))
  }
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}
