// Operations on bytes, by Node's Buffer. `portable-bytes.ts` has the same functions for other runtimes. The import
// `#bytes` takes this file under the condition `node`, and that one elsewhere.
import { Buffer, isUtf8 } from 'node:buffer'

/** Allocates `length` uninitialized bytes. */
export function allocateBytes(length: number): Uint8Array {
  return Buffer.allocUnsafe(length)
}

/**
 * Same as `allocateBytes`, as a plain array. An array of its own takes 0.3 µs above 64 bytes; from Node's pool, as here, 0.1.
 * Then `buffer` has other bytes too, as with `Buffer.from`, and an array that is kept keeps all of them: `Buffer.poolSize`,
 * which is 64 KiB with Node 24.
 */
export function allocatePooled(length: number): Uint8Array {
  const { buffer, byteOffset } = Buffer.allocUnsafe(length)
  return new Uint8Array(buffer, byteOffset, length)
}

/**
 * The same memory as an array of the class that `allocateBytes` makes: code that sees arrays of only one class is
 * faster.
 */
export function viewBytes(bytes: Uint8Array): Uint8Array {
  return asBuffer(bytes)
}

/** Holds short arrays for a moment. */
const SCRATCH = Buffer.allocUnsafeSlow(64)

/**
 * A Buffer that begins with the same bytes, until the next call. V8 keeps a short array on its heap, and moves it out
 * the first time that its `buffer` is asked for, which takes ten times as long as this copy.
 */
function asBufferOrScratch(bytes: Uint8Array): Buffer {
  const { length } = bytes
  if (length > SCRATCH.length || Buffer.isBuffer(bytes)) return asBuffer(bytes)
  for (let at = 0; at < length; at++) SCRATCH[at] = bytes[at]!
  return SCRATCH
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

/**
 * Compares byte by byte. Returns a number below 0 if `a` comes before `b`, 0 if they are equal, and one above 0 if `a`
 * comes after `b`.
 */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b)
}

/** Offset of the first `part` in `bytes`; -1 if there is none. */
export function indexOfBytes(bytes: Uint8Array, part: Uint8Array): number {
  return asBuffer(bytes).indexOf(part)
}

/** The text of UTF-8 bytes, a byte order mark included; undefined if the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? asBuffer(bytes).toString('utf8') : undefined
}

/** Length of a text in UTF-8, in bytes. A lone surrogate counts as the three bytes of U+FFFD. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text)
}

/**
 * Writes a text in UTF-8 at `at`, and returns the number of bytes. The caller makes sure that there is room for them.
 */
export function writeUtf8(target: Uint8Array, at: number, text: string): number {
  return asBuffer(target).write(text, at)
}

/**
 * Writes a text of ASCII characters at `at`, and returns the number of bytes. The caller makes sure that there is room
 * for them.
 */
export function writeAscii(target: Uint8Array, at: number, text: string): number {
  return asBuffer(target).write(text, at, 'latin1')
}

/** A text with a character for each byte, below U+0100. */
export function bytesToLatin1(bytes: Uint8Array): string {
  return asBufferOrScratch(bytes).toString('latin1', 0, bytes.length)
}

/** Lower-case hex digits, two per byte, without `0x`. */
export function bytesToHexDigits(bytes: Uint8Array): string {
  return asBufferOrScratch(bytes).toString('hex', 0, bytes.length)
}

/** The hex digits of `bytes[start, end)`. A view of a short part takes as long to make as its digits. */
export function partToHexDigits(bytes: Uint8Array, start: number, end: number): string {
  return asBuffer(bytes).toString('hex', start, end)
}

/** Writes the hex digits of `source[start, end)` as ASCII at `at`, and returns their number. */
export function writeHexDigits(target: Uint8Array, at: number, source: Uint8Array, start: number, end: number): number {
  return asBuffer(target).write(partToHexDigits(source, start, end), at, 'latin1')
}

/**
 * Decodes the hex digits of a text, starting at `start`: an even number of digits, in either case. It stops at the
 * first character that is not a hex digit, and returns the number of bytes written.
 */
export function writeHexBytes(target: Uint8Array, at: number, text: string, start: number): number {
  return asBuffer(target).write(start === 0 ? text : text.slice(start), at, 'hex')
}
