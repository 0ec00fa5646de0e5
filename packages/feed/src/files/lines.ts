import type { Buffer } from 'node:buffer'
import { ByteCollector } from '@ledger-state/core/requests'

const LINE_END = 10

/**
 * Yields complete lines, and the last one even without its line end.
 * @throws the error of `tooLong`
 */
export async function* readLines(
  content: AsyncIterable<Buffer>,
  maxBytes: number,
  tooLong: () => Error,
): AsyncGenerator<string, void> {
  const line = new ByteCollector(maxBytes)
  let isBegun = false
  const add = (part: Buffer) => {
    if (!line.add(part)) throw tooLong()
    isBegun = true
  }
  for await (const piece of content) {
    let start = 0
    for (let end = piece.indexOf(LINE_END); end >= 0; end = piece.indexOf(LINE_END, start)) {
      add(piece.subarray(start, end))
      yield line.takeText()
      isBegun = false
      start = end + 1
    }
    if (start < piece.length) add(piece.subarray(start))
  }
  if (isBegun) yield line.takeText()
}

/** The lines of a text, without their ends. A text of many short lines takes no more memory than itself. */
export function* linesOf(text: string): Generator<string, void> {
  let start = 0
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    yield text.slice(start, end)
    start = end + 1
  }
  if (start < text.length) yield text.slice(start)
}
