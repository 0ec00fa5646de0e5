import { inflateRawSync } from 'node:zlib'

/** zlib takes no smaller chunk. */
const LEAST_CHUNK = 64

/**
 * Inflates bytes of RFC 1951.
 * @param length number of inflated bytes; no more memory is taken
 * @returns undefined for bytes that cannot be inflated, or to more bytes
 */
export function inflate(deflated: Uint8Array, dictionary: Uint8Array, length: number): Uint8Array | undefined {
  try {
    // One chunk for all bytes, and room for one more: otherwise zlib asks for another chunk to see that it has ended.
    const chunkSize = Math.max(LEAST_CHUNK, length + 1)
    return inflateRawSync(deflated, { dictionary, maxOutputLength: Math.max(1, length), chunkSize })
  } catch {
    return undefined
  }
}
