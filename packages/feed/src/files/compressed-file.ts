import { Buffer } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import * as zlib from 'node:zlib'
import { isLedgerStateError } from '@ledger-state/core'
import { cannotOpen, cannotReadToEnd, fileTooLarge, zstdUnsupported } from '../errors.js'

const PIECE_BYTES = 256 * 1024

const GZIP_MAGIC = '1f8b'
const ZSTD_MAGIC = '28b52ffd'
const MAGIC_LENGTH = 4

export type Compression = 'none' | 'gzip' | 'zstd'

/** Content of a file, decompressed piece by piece as it is read. */
export interface ContentStream {
  readonly compression: Compression
  /** Bytes of the file read so far. */
  readonly bytesRead: number
  pieces(): AsyncGenerator<Buffer, void>
  close(): void
}

/**
 * Opens a file, and decompresses it as it is read.
 * @throws `invalid_argument` if the file cannot be opened, or is zstd and this Node.js is too old for that
 */
export async function openContent(path: string): Promise<ContentStream> {
  const compression = await detectCompression(path)
  const file = createReadStream(path, { highWaterMark: PIECE_BYTES })
  const decoder = createDecoder(compression, path)
  if (decoder) file.on('error', (error) => decoder.destroy(error)).pipe(decoder)
  const stream = decoder ?? file
  return {
    compression,
    get bytesRead() {
      return file.bytesRead
    },
    async *pieces() {
      for await (const piece of stream) yield piece as Buffer
    },
    close() {
      stream.destroy()
      file.destroy()
    },
  }
}

async function detectCompression(path: string): Promise<Compression> {
  try {
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC_LENGTH), 0, MAGIC_LENGTH, 0)
      return compressionOf(buffer.subarray(0, bytesRead))
    } finally {
      await file.close()
    }
  } catch (cause) {
    throw isLedgerStateError(cause) ? cause : cannotOpen(path, cause)
  }
}

function compressionOf(first: Buffer): Compression {
  const magic = first.toString('hex', 0, MAGIC_LENGTH)
  return magic.startsWith(GZIP_MAGIC) ? 'gzip' : magic === ZSTD_MAGIC ? 'zstd' : 'none'
}

function createDecoder(compression: Compression, path: string) {
  if (compression === 'none') return undefined
  if (compression === 'gzip') return zlib.createGunzip({ chunkSize: PIECE_BYTES })
  if (typeof zlib.createZstdDecompress === 'function') return zlib.createZstdDecompress({ chunkSize: PIECE_BYTES })
  throw zstdUnsupported(path)
}

/**
 * The whole content of a small file or object, from its bytes as they are stored.
 * @throws `invalid_backup` naming `place` if it is larger than `most` bytes, packed or unpacked, or cannot be read
 */
export async function readContent(stored: AsyncIterable<Buffer>, place: string, most: number): Promise<Buffer> {
  try {
    const bytes = await gather(stored, place, most)
    const decoder = createDecoder(compressionOf(bytes), place)
    if (!decoder) return bytes
    decoder.end(bytes)
    return await gather(decoder, place, most)
  } catch (cause) {
    throw cannotReadToEnd(place, cause)
  }
}

async function gather(content: AsyncIterable<Buffer>, place: string, most: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of content) {
    pieces.push(piece)
    length += piece.length
    if (length > most) throw fileTooLarge(place, most)
  }
  return Buffer.concat(pieces)
}
