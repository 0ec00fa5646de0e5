import { inflateRawSync } from 'node:zlib'

/**
 * Inflates bytes of RFC 1951.
 * @param length number of inflated bytes; no more memory is taken
 * @returns undefined for bytes that cannot be inflated, or to more bytes
 */
export function inflate(deflated: Uint8Array, dictionary: Uint8Array, length: number): Uint8Array | undefined {
  try {
    return inflateRawSync(deflated, { dictionary, maxOutputLength: Math.max(1, length) })
  } catch {
    return undefined
  }
}
