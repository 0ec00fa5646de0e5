import { allocateBytes, bytesToHexDigits, writeHexBytes } from '#bytes'
import { hexDigitValue } from './bytes/hex-digit.js'
import { invalidHex } from './errors.js'

/** Bytes in hex: `0x` and two lower-case digits for each. Zeros are never trimmed. */
export function bytesToHex(bytes: Uint8Array): string {
  return `0x${bytesToHexDigits(bytes)}`
}

/**
 * Describes the first character at or after `start` that is not a hex digit, and its position relative to `start`.
 * There must be one.
 */
export function badHexDigit(text: string, start: number): string {
  let at = start
  while (hexDigitValue(text.charCodeAt(at)) >= 0) at++
  return `invalid character '${String.fromCodePoint(text.codePointAt(at)!)}' at position ${at - start}`
}

/**
 * Parses hex digits of either case, with or without `0x`; `""` and `"0x"` are zero bytes.
 * @throws `invalid_hex` naming the first bad character and its position after the `0x`, or an odd number of digits.
 */
export function hexToBytes(text: string): Uint8Array {
  const start = text.startsWith('0x') ? 2 : 0
  const digits = text.length - start
  if (digits % 2 !== 0) throw invalidHex(text, 'odd number of digits')
  const bytes = allocateBytes(digits / 2)
  if (writeHexBytes(bytes, 0, text, start) !== bytes.length) throw invalidHex(text, badHexDigit(text, start))
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}
