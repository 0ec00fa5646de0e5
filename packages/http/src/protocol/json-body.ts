import { isUtf8 } from 'node:buffer'
import { type JsonValue, parseJson } from '@ledger-state/bcs'
import { LedgerStateError } from '@ledger-state/core'
import { contentTooLarge } from '../errors.js'

/** What is read of one body in one turn of the event loop. */
export interface ContentLimits {
  /** Bytes of JSON, without the white space around it. */
  readonly bytes: number
  /** Values, those inside arrays and objects included. */
  readonly values: number
}

/**
 * One read. A transaction has at most 64 KiB, so a key that one carries is at most 128 Ki hex digits, or 8,192 numbers
 * of 64 bits.
 */
export const READ_LIMITS: ContentLimits = { bytes: 256 * 1024, values: 16_384 }

/** A batch: 1 KiB and 32 values for each of a thousand reads. */
export const BATCH_LIMITS: ContentLimits = { bytes: 1024 * 1024, values: 32_768 }

/** Counts the bytes of a body that comes in chunks, without the white space around it. */
export class ContentLength {
  bytes = 0
  /** White space after them, which counts once something follows it. */
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

/** @throws `body_too_large`, `invalid_json` */
export function parseJsonBytes(body: Buffer, limits: ContentLimits): JsonValue {
  const content = body.length > limits.bytes ? body.subarray(...contentRange(body)) : body
  if (content.length > limits.bytes) throw contentTooLarge(limits.bytes)
  if (!isUtf8(content)) throw new LedgerStateError('invalid_json', 'the body is not UTF-8')
  return parseJson(content.toString('utf8'), { maxNodes: limits.values })
}

/** Where the content begins and ends that has white space around it. Long runs of spaces are compared as blocks: 8 MiB cost less than a millisecond. */
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
