import zlib from 'node:zlib'
import { decompress as decompressPortably } from './portable-decompress.js'

/** zlib takes no smaller chunk. */
const LEAST_CHUNK = 64

/**
 * Decompresses one zstd frame (RFC 8878).
 * @param length number of decompressed bytes; no more memory is taken for them
 * @returns undefined for bytes that are no frame, or have more bytes
 */
export function decompress(compressed: Uint8Array, length: number): Uint8Array | undefined {
  // Node.js 20, which can read a store, has no zstd.
  if (!zlib.zstdDecompressSync) return decompressPortably(compressed, length)
  try {
    // One chunk for all bytes, and room for one more: otherwise zlib asks for another chunk to see that it has ended.
    const chunkSize = Math.max(LEAST_CHUNK, length + 1)
    return zlib.zstdDecompressSync(compressed, { maxOutputLength: Math.max(1, length), chunkSize })
  } catch {
    return undefined
  }
}
