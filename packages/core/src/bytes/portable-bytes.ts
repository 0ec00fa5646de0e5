// The functions of `node-bytes.ts` for browsers, workers, and any other runtime with TextEncoder and TextDecoder.
import { hexDigitValue } from './hex-digit.js'

const ENCODER = new TextEncoder()
// A byte order mark is kept, as part of the text.
const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function allocateBytes(length: number): Uint8Array {
  return new Uint8Array(length)
}

export function allocatePooled(length: number): Uint8Array {
  return new Uint8Array(length)
}

export function viewBytes(bytes: Uint8Array): Uint8Array {
  return bytes.constructor === Uint8Array ? bytes : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length)
  for (let at = 0; at < shared; at++) {
    const order = a[at]! - b[at]!
    if (order !== 0) return order
  }
  return a.length - b.length
}

export function indexOfBytes(bytes: Uint8Array, part: Uint8Array): number {
  if (part.length === 0) return 0
  const last = bytes.length - part.length
  for (let start = bytes.indexOf(part[0]!); start >= 0 && start <= last; start = bytes.indexOf(part[0]!, start + 1)) {
    let at = 1
    while (at < part.length && bytes[start + at] === part[at]) at++
    if (at === part.length) return start
  }
  return -1
}

/** Length in bytes up to which joining characters is faster than the runtime's decoder. */
const SHORT_TEXT = 24

export function decodeUtf8(bytes: Uint8Array): string | undefined {
  if (bytes.length <= SHORT_TEXT) {
    let text = ''
    for (let at = 0; at < bytes.length && bytes[at]! < 0x80; at++) text += String.fromCharCode(bytes[at]!)
    if (text.length === bytes.length) return text
  }
  try {
    return DECODER.decode(bytes)
  } catch {
    return undefined
  }
}

/** Length of a text from which the runtime's encoder counts its bytes in half the time of a loop, or less. */
const LONG_TEXT = 50
/** Takes the bytes of a piece of a long text. */
const PIECE = new Uint8Array(2 ** 14)

function longUtf8Length(text: string): number {
  let length = 0
  for (let rest = text; rest.length > 0; ) {
    const { read, written } = ENCODER.encodeInto(rest, PIECE)
    length += written
    rest = rest.slice(read)
  }
  return length
}

export function utf8Length(text: string): number {
  if (text.length > LONG_TEXT) return longUtf8Length(text)
  let length = text.length
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x80) continue
    length += code < 0x800 ? 1 : 2
    // Two halves of a pair take four bytes together.
    if (code >= 0xd800 && code < 0xdc00 && isLowSurrogate(text.charCodeAt(at + 1))) at++
  }
  return length
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000
}

export function writeUtf8(target: Uint8Array, at: number, text: string): number {
  return ENCODER.encodeInto(text, target.subarray(at)).written
}

export function writeAscii(target: Uint8Array, at: number, text: string): number {
  const { length } = text
  for (let index = 0; index < length; index++) target[at + index] = text.charCodeAt(index)
  return length
}

export function bytesToLatin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at++) text += String.fromCharCode(bytes[at]!)
  return text
}

const HEX_DIGITS = ENCODER.encode('0123456789abcdef')
const HEX_PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

export function bytesToHexDigits(bytes: Uint8Array): string {
  return partToHexDigits(bytes, 0, bytes.length)
}

export function partToHexDigits(bytes: Uint8Array, start: number, end: number): string {
  // Joined: a text that is put together with `+` keeps its parts, about 2 kB for 32 bytes.
  const pairs = new Array<string>(end - start)
  for (let at = start; at < end; at++) pairs[at - start] = HEX_PAIRS[bytes[at]!]!
  return pairs.join('')
}

export function writeHexDigits(target: Uint8Array, at: number, source: Uint8Array, start: number, end: number): number {
  let next = at
  for (let index = start; index < end; index++) {
    const byte = source[index]!
    target[next++] = HEX_DIGITS[byte >> 4]!
    target[next++] = HEX_DIGITS[byte & 15]!
  }
  return next - at
}

/**
 * From this number of hex digits, it is faster to encode them as bytes first: reading single characters of a substring
 * is slow.
 */
const LONG_HEX = 256
/**
 * A buffer for hex digits as bytes, small enough to stay in the processor's cache; `DIGIT_WORDS` is the same memory,
 * four digits a word.
 */
const DIGITS = new Uint8Array(4_096)
const DIGIT_WORDS = new Int32Array(DIGITS.buffer)

export function writeHexBytes(target: Uint8Array, at: number, text: string, start: number): number {
  let next = at
  let index = start
  while (text.length > LONG_HEX && index + 4 <= text.length) {
    const part = text.slice(index, index + DIGITS.length)
    const { written } = ENCODER.encodeInto(part, DIGITS)
    const words = written >> 2
    // A character that is not ASCII is several bytes, none of them a digit.
    if (written !== part.length || !writeWordsOfDigits(target, next, words)) break
    next += 2 * words
    index += 4 * words
  }
  for (; index < text.length; index += 2) {
    const high = hexDigitValue(text.charCodeAt(index))
    const low = hexDigitValue(text.charCodeAt(index + 1))
    if ((high | low) < 0) break
    target[next++] = (high << 4) | low
  }
  return next - at
}

/**
 * Writes two bytes for each of the first `count` words of `DIGIT_WORDS`, and returns whether all were digits. It works
 * on the four digits of a word at the same time: a table of digits takes two thirds longer. The first digit is the
 * lowest byte of a word, because all runtimes except Node run only on little-endian machines.
 */
function writeWordsOfDigits(target: Uint8Array, at: number, count: number): boolean {
  let faults = 0
  let next = at
  for (let index = 0; index < count; index++) {
    const word = DIGIT_WORDS[index]!
    const lowerCase = word | 0x20202020
    // The sums set the highest bit of a byte that is at least 0, above 9, at least a, and above f.
    const decimal = (word + 0x50505050) & ~(word + 0x46464646)
    const letter = (lowerCase + 0x1f1f1f1f) & ~(lowerCase + 0x19191919)
    // A byte that is not ASCII has this bit itself. A carry into the next byte comes only from a byte that is a fault
    // already.
    faults |= ~(decimal | letter) | word
    // Bit 6 is set in letters; their lower half is 1 to 6.
    const values = (word & 0x0f0f0f0f) + ((word >>> 6) & 0x01010101) * 9
    const pairs = (values << 4) | (values >>> 8)
    target[next++] = pairs
    target[next++] = pairs >>> 16
  }
  return (faults & 0x80808080) === 0
}
