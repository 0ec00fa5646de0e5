import { Buffer } from 'node:buffer'
import type { Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { isLedgerStateError } from '@ledger-state/core'
import { ByteCollector } from '@ledger-state/core/requests'
import { cannotOpen, cannotReadToEnd, invalidArgument, invalidBackup } from '../errors.js'
import { viewAsBuffer } from '../view-as-buffer.js'
import { type ByteSource, PIECE_BYTES, regularFile } from './regular-file.js'

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
 * @throws `invalid_argument` if it cannot be opened, is no regular file, or is zstd and this Node.js is too old for that
 */
export async function openContent(path: string): Promise<ContentStream> {
  return await toContent(await regularFile(path), path)
}

/**
 * Decompresses a stream as it is read.
 * @throws as `openContent`
 */
export async function toContent(stored: ByteSource, path: string): Promise<ContentStream> {
  let stream: Readable
  let compression: Compression
  let first: Buffer
  try {
    first = await peekMagic(stored)
    compression = compressionOf(first)
    const decoder = createDecoder(compression, path)
    if (decoder) stored.on('error', (error) => decoder.destroy(error)).pipe(decoder)
    stream = decoder ?? stored
  } catch (cause) {
    stored.destroy()
    throw isLedgerStateError(cause) ? cause : cannotOpen(path, cause)
  }
  return {
    compression,
    get bytesRead() {
      return stored.bytesRead
    },
    async *pieces() {
      if (first.length > 0 && first.length < MAGIC_LENGTH) yield first
      for await (const piece of stream) yield piece as Buffer
    },
    close() {
      stream.destroy()
      stored.destroy()
    },
  }
}

/**
 * The first bytes of a stream, which has them again when it is read. A stream with fewer has ended, and has nothing
 * any more.
 */
async function peekMagic(stream: Readable): Promise<Buffer> {
  let first = Buffer.alloc(0)
  while (first.length < MAGIC_LENGTH) {
    const piece = await nextPiece(stream)
    if (!piece) break
    first = Buffer.concat([first, piece])
  }
  if (first.length >= MAGIC_LENGTH) stream.unshift(first)
  return first
}

/** The next piece of a stream; undefined at its end. */
function nextPiece(stream: Readable): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const take = () => {
      const piece = stream.read() as Buffer | null
      if (piece !== null) settle(() => resolve(piece))
    }
    const end = () => settle(() => resolve(undefined))
    const fail = (error: Error) => settle(() => reject(error))
    const settle = (how: () => void) => {
      stream.off('readable', take).off('end', end).off('error', fail)
      how()
    }
    stream.on('readable', take).on('end', end).on('error', fail)
    take()
  })
}

function compressionOf(first: Buffer): Compression {
  if (first.length < MAGIC_LENGTH) return 'none'
  const magic = first.toString('hex', 0, MAGIC_LENGTH)
  return magic.startsWith(GZIP_MAGIC) ? 'gzip' : magic === ZSTD_MAGIC ? 'zstd' : 'none'
}

function createDecoder(compression: Compression, path: string) {
  if (compression === 'none') return undefined
  if (compression === 'gzip') return zlib.createGunzip({ chunkSize: PIECE_BYTES })
  if (typeof zlib.createZstdDecompress === 'function') return zlib.createZstdDecompress({ chunkSize: PIECE_BYTES })
  throw invalidArgument.zstdUnsupported(path)
}

/**
 * The whole content of a small file or object, from its stored bytes.
 * @throws `invalid_backup` naming `place` if it is larger than `most` bytes, packed or unpacked, or cannot be read
 */
export async function readContent(stored: AsyncIterable<Buffer>, place: string, most: number): Promise<Buffer> {
  try {
    return await unpack(await gatherContent(stored, place, most), place, most)
  } catch (cause) {
    throw cannotReadToEnd(place, cause)
  }
}

/** Decompresses the bytes of a small file. @throws as `readContent` */
export async function unpack(stored: Buffer, place: string, most: number): Promise<Buffer> {
  try {
    const decoder = createDecoder(compressionOf(stored), place)
    if (!decoder) return stored
    decoder.end(stored)
    return await gatherContent(decoder, place, most)
  } catch (cause) {
    throw cannotReadToEnd(place, cause)
  }
}

/**
 * All bytes of a content.
 * @throws `invalid_backup` naming `place` if there are more than `most`
 */
export async function gatherContent(content: AsyncIterable<Buffer>, place: string, most: number): Promise<Buffer> {
  const bytes = await gatherUpTo(content, most)
  if (!bytes) throw invalidBackup.fileTooLarge(place, most)
  return bytes
}

/** All bytes of a content; undefined if there are more than `most`. */
export async function gatherUpTo(content: AsyncIterable<Buffer>, most: number): Promise<Buffer | undefined> {
  const collected = new ByteCollector(most)
  for await (const piece of content) if (!collected.add(piece)) return undefined
  return viewAsBuffer(collected.take())
}
