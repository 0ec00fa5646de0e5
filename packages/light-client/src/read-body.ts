import { invalidAnswer } from './errors.js'

/** Longest answer that is read. One has about 1 MiB of epoch changes, or a module and its proof. */
export const MOST_ANSWER_BYTES = 16 * 1024 * 1024

/**
 * Reads the body of an answer of a node that nobody trusts.
 * @throws `invalid_answer` if it is longer than `MOST_ANSWER_BYTES`
 */
export async function readBody(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for (const reader = response.body?.getReader(); reader; ) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.length
    if (length > MOST_ANSWER_BYTES) {
      await reader.cancel()
      throw invalidAnswer.tooLong(MOST_ANSWER_BYTES)
    }
    chunks.push(value)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
