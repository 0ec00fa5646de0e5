import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { MAX_KEY_LENGTH, MAX_VALUE_LENGTH } from '@ledger-state/engine'

/** How the content of blocks is compressed. */
export type Codec = 'none' | 'deflate'

// Numbers of the codecs in the files.
export const STORED = 0
const DEFLATED = 1

/** Share of its length that a block must save to be stored compressed. */
const LEAST_SAVED = 1 / 10
/** Deflate saves at most this factor, and a few bytes. */
const MOST_FACTOR = 1_032
/** No content is longer: a block that exceeds `BLOCK_BYTES` has a single entry, and that has a key, a value and its head. */
const MAX_CONTENT_LENGTH = MAX_KEY_LENGTH + MAX_VALUE_LENGTH + 2 ** 14

export interface Compressed {
  readonly codec: number
  readonly bytes: Uint8Array
}

export function compress(codec: Codec, content: Uint8Array): Compressed {
  if (codec === 'deflate') {
    const bytes = deflateRawSync(content)
    if (bytes.length <= content.length * (1 - LEAST_SAVED)) return { codec: DEFLATED, bytes }
  }
  return { codec: STORED, bytes: content }
}

/** Restores the content of a block. Returns undefined if that is not possible, or not of this length. */
export function decompress(codec: number, bytes: Uint8Array, length: number): Uint8Array | undefined {
  if (codec !== DEFLATED || length > MAX_CONTENT_LENGTH || length > MOST_FACTOR * bytes.length) return undefined
  try {
    // With one byte more, the content lies in one buffer of its length. By default, zlib would keep 16 KiB for each block.
    const restored = inflateRawSync(bytes, {
      chunkSize: Math.max(64, length + 1),
      maxOutputLength: Math.max(1, length),
    })
    return restored.length === length ? restored : undefined
  } catch {
    return undefined
  }
}
