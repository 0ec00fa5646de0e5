import { Buffer } from 'node:buffer'

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
  let pieces: Buffer[] = []
  let pending = 0
  for await (const piece of content) {
    let start = 0
    for (let end = piece.indexOf(LINE_END); end >= 0; end = piece.indexOf(LINE_END, start)) {
      pieces.push(piece.subarray(start, end))
      yield joinLine(pieces)
      pieces = []
      pending = 0
      start = end + 1
    }
    if (start === piece.length) continue
    pieces.push(piece.subarray(start))
    pending += piece.length - start
    if (pending > maxBytes) throw tooLong()
  }
  if (pieces.length > 0) yield joinLine(pieces)
}

function joinLine(pieces: readonly Buffer[]): string {
  return (pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)).toString('utf8')
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
