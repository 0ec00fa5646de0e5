import type { HttpAnswer } from '@ledger-state/core/requests'
import { upstreamFailed } from '../errors.js'

/** Bytes of an answer that are read before any of it is passed on. Most answers are shorter. */
const FIRST_BYTES = 65_536

/** An answer of an upstream as it comes in. */
export interface BoundedBody {
  /** Beginning of the answer, or all of it. */
  readonly first: Uint8Array
  /** Rest of the answer; undefined if there is none. */
  readonly rest: AsyncGenerator<Uint8Array> | undefined
}

/**
 * Reads the beginning of an answer. The rest is read as it is taken, so that its taker bounds the part that is in
 * memory.
 * @param onBytes called with the number of bytes of every chunk
 * @throws `upstream_failed` if it is longer than the limit; so does `rest`
 */
export async function readBoundedBody(
  answer: HttpAnswer,
  limitBytes: number,
  onBytes: (bytes: number) => void,
): Promise<BoundedBody> {
  // For a compressed body this is its compressed length, which bounds nothing.
  if (Number(answer.headers.get('content-length') ?? 0) > limitBytes) throw tooLarge(limitBytes)
  const chunks = boundedChunks(answer, limitBytes, onBytes)
  const first: Uint8Array[] = []
  for (let length = 0; length < FIRST_BYTES; ) {
    const { value, done } = await chunks.next()
    if (done) return { first: Buffer.concat(first), rest: undefined }
    first.push(value)
    length += value.length
  }
  return { first: Buffer.concat(first), rest: chunks }
}

async function* boundedChunks(
  answer: HttpAnswer,
  limitBytes: number,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array, undefined> {
  let bytes = 0
  for await (const chunk of answer.pieces()) {
    bytes += chunk.length
    onBytes(chunk.length)
    if (bytes > limitBytes) throw tooLarge(limitBytes)
    yield chunk
  }
  return undefined
}

function tooLarge(limitBytes: number) {
  return upstreamFailed(`its answer is longer than ${limitBytes} bytes`)
}
