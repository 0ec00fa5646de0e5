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

const SPACES = Buffer.alloc(4_096, ' ')

/** @throws `body_too_large`, `invalid_json` */
export function parseJsonBytes(body: Buffer, limits: ContentLimits): JsonValue {
  const content = body.length > limits.bytes ? trimmed(body) : body
  if (content.length > limits.bytes) throw contentTooLarge(limits.bytes)
  if (!isUtf8(content)) throw new LedgerStateError('invalid_json', 'the body is not UTF-8')
  return parseJson(content.toString('utf8'), { maxNodes: limits.values })
}

/** The body without white space at its ends. Long runs of spaces are compared as blocks: 8 MiB cost less than a millisecond. */
function trimmed(body: Buffer): Buffer {
  const block = SPACES.length
  let start = 0
  let end = body.length
  while (start + block <= end && body.compare(SPACES, 0, block, start, start + block) === 0) start += block
  while (end - block >= start && body.compare(SPACES, 0, block, end - block, end) === 0) end -= block
  while (start < end && isSpace(body[start]!)) start++
  while (end > start && isSpace(body[end - 1]!)) end--
  return body.subarray(start, end)
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
