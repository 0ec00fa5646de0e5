import { Buffer } from 'node:buffer'
import { closeSync, openSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'

/** Bytes of a piece: small, so that its lines become garbage together while it is young. */
const PIECE_BYTES = 16 << 10

/**
 * The lines of a text file, with one piece in memory at a time.
 * @throws errors of the file system
 */
export function* linesOfFile(path: string): Generator<string> {
  const file = openSync(path, 'r')
  try {
    const piece = Buffer.alloc(PIECE_BYTES)
    const decoder = new StringDecoder('utf8')
    let rest = ''
    for (let count = readSync(file, piece); count > 0; count = readSync(file, piece)) {
      const lines = (rest + decoder.write(piece.subarray(0, count))).split('\n')
      rest = lines.pop()!
      yield* lines
    }
    yield rest + decoder.end()
  } finally {
    closeSync(file)
  }
}
