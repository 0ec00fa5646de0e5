// What the runtime does with bytes, by Node's Buffer. `portable-bytes.ts` has the same functions for other runtimes; the
// import `#bytes` takes this file under the condition `node`, and that one elsewhere.
import { Buffer, isUtf8 } from 'node:buffer'

/** An array of `length` bytes, which may hold anything. */
export function allocateBytes(length: number): Uint8Array {
  return Buffer.allocUnsafe(length)
}

/**
 * The same memory as an array of the class that `allocateBytes` makes: code that meets arrays of one class alone is
 * faster.
 */
export function viewBytes(bytes: Uint8Array): Uint8Array {
  return asBuffer(bytes)
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** A copy of `bytes[start, end)`. */
export function copyBytes(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const copy = Buffer.allocUnsafe(end - start)
  asBuffer(bytes).copy(copy, 0, start, end)
  return copy
}

/** Compares byte by byte: below 0, 0 or above 0 where `a` comes before `b`, is the same, or comes after it. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b)
}

/** Offset of the first `part` in `bytes`; -1 if it is not in them. */
export function indexOfBytes(bytes: Uint8Array, part: Uint8Array): number {
  return asBuffer(bytes).indexOf(part)
}

/** The text of UTF-8 bytes, a byte order mark included; undefined if the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? asBuffer(bytes).toString('utf8') : undefined
}

/** Bytes that a text takes in UTF-8. Lone surrogates take the three of U+FFFD. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text)
}

/** Writes a text in UTF-8 from `at` on, where there must be room for it, and answers the number of bytes. */
export function writeUtf8(target: Uint8Array, at: number, text: string): number {
  return asBuffer(target).write(text, at)
}

/** Writes a text of ASCII characters from `at` on, where there must be room for it, and answers the number of bytes. */
export function writeAscii(target: Uint8Array, at: number, text: string): number {
  return asBuffer(target).write(text, at, 'latin1')
}

/** Lower-case hex digits, two per byte, without `0x`. */
export function bytesToHexDigits(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('hex')
}

/** Writes the hex digits of `source[start, end)` as ASCII from `at` on, and answers their number. */
export function writeHexDigits(target: Uint8Array, at: number, source: Uint8Array, start: number, end: number): number {
  return asBuffer(target).write(asBuffer(source).toString('hex', start, end), at, 'latin1')
}

/**
 * Writes the bytes of the hex digits that a text has from `start` on, an even number of either case. It stops at the first
 * character that is none, and answers the number of bytes written.
 */
export function writeHexBytes(target: Uint8Array, at: number, text: string, start: number): number {
  return asBuffer(target).write(start === 0 ? text : text.slice(start), at, 'hex')
}
