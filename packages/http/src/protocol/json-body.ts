import { isUtf8 } from 'node:buffer'
import { isJsonObject, type JsonValue, parseJson, parseJsonOutline } from '@ledger-state/bcs'
import { bodyNotUtf8, bodyTooLarge } from '../errors.js'

/** Most of a body that is read in one turn of the event loop. */
export interface ContentLimits {
  /** Bytes of JSON, without the white space around it. */
  readonly bytes: number
  /** Number of values, including those inside arrays and objects. */
  readonly values: number
}

/**
 * Limits of one read. A transaction has at most 64 KiB, so a key in it is at most 128 Ki hex digits, or 8,192 numbers
 * of 64 bits.
 */
export const READ_LIMITS: ContentLimits = { bytes: 256 * 1024, values: 16_384 }

/** Limits of a batch: 1 KiB and 32 values for each of a thousand reads. */
export const BATCH_LIMITS: ContentLimits = { bytes: 1024 * 1024, values: 32_768 }

/** Counts the bytes of a body that comes in chunks, without the white space around it. */
export class ContentLength {
  bytes = 0
  /** White space that counts only if something follows it. */
  #spaces = 0

  add(chunk: Buffer): void {
    const [start, end] = contentRange(chunk)
    if (start === end) {
      this.#spaces += chunk.length
      return
    }
    this.bytes += this.bytes === 0 ? end - start : this.#spaces + end
    this.#spaces = chunk.length - end
  }
}

const SPACES = Buffer.alloc(4_096, ' ')

/**
 * Parses the JSON of a body.
 * @throws `body_too_large`, `invalid_json`
 */
export function parseJsonBytes(body: Buffer, limits: ContentLimits): JsonValue {
  return parseJson(contentOf(body, limits).toString('utf8'), { maxNodes: limits.values })
}

/**
 * The items of a list that is a member of the object in a body; undefined if it is not. Each item is parsed from the
 * bytes when it is asked for. Work on a long list may take many turns, and the whole text would stay in the heap
 * meanwhile, too large and too old for collections of the young generation to free.
 * @throws `body_too_large`, `invalid_json`
 */
export function parseJsonList(body: Buffer, name: string, limits: ContentLimits): LazyList | undefined {
  const content = contentOf(body, limits)
  // In Latin-1 each byte is one unit of the text, and JSON has the same form in it.
  const { value, itemsOf } = parseJsonOutline(content.toString('latin1'), { maxNodes: limits.values })
  const list = isJsonObject(value) ? value.get(name) : undefined
  if (!Array.isArray(list)) return undefined
  const ranges = itemsOf(list)
  return {
    length: ranges.length,
    isObject: (at) => content[ranges[at]!.start] === OPENING_BRACE,
    item: (at) => parseJson(content.toString('utf8', ranges[at]!.start, ranges[at]!.end)),
  }
}

export interface LazyList {
  readonly length: number
  isObject(at: number): boolean
  /** Parses an item. The bytes must still exist. */
  item(at: number): JsonValue
}

const OPENING_BRACE = 0x7b

/** The bytes of JSON. If they are long, white space around them is cut off. */
function contentOf(body: Buffer, limits: ContentLimits): Buffer {
  const content = body.length > limits.bytes ? body.subarray(...contentRange(body)) : body
  if (content.length > limits.bytes) throw bodyTooLarge.contentTooLarge(limits.bytes)
  if (!isUtf8(content)) throw bodyNotUtf8()
  return content
}

/**
 * The range of the content, without the white space around it. Long runs of spaces are compared as blocks: 8 MiB take
 * less than a millisecond.
 */
function contentRange(body: Buffer): [start: number, end: number] {
  const block = SPACES.length
  let start = 0
  let end = body.length
  while (start + block <= end && body.compare(SPACES, 0, block, start, start + block) === 0) start += block
  while (end - block >= start && body.compare(SPACES, 0, block, end - block, end) === 0) end -= block
  while (start < end && isSpace(body[start]!)) start++
  while (end > start && isSpace(body[end - 1]!)) end--
  return [start, end]
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
