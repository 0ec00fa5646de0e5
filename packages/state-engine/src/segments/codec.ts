import * as zlib from 'node:zlib'

/** What makes blocks smaller. Their numbers are in the files. */
export type Codec = 'none' | 'deflate' | 'zstd'

const NUMBERS: Readonly<Record<Codec, number>> = { none: 0, deflate: 1, zstd: 2 }
const ZSTD_LEVEL = 3
/** Share of its length that a block must save to be stored compressed. */
const LEAST_SAVED = 1 / 10

/** Whether this Node has zstd: from 22.15 on. */
export const hasZstd = 'zstdCompressSync' in zlib

/** Number of the codec of a block that is stored as it is. */
export const STORED = NUMBERS.none

export interface Compressed {
  readonly codec: number
  readonly bytes: Uint8Array
}

export function compress(codec: Codec, content: Uint8Array): Compressed {
  if (codec !== 'none') {
    const bytes = codec === 'zstd' ? compressZstd(content) : zlib.deflateRawSync(content)
    if (bytes.length <= content.length * (1 - LEAST_SAVED)) return { codec: NUMBERS[codec], bytes }
  }
  return { codec: STORED, bytes: content }
}

function compressZstd(content: Uint8Array): Uint8Array {
  return zlib.zstdCompressSync(content, { params: { [zlib.constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } })
}

/** Restores the content of a block. Returns undefined if that is not possible, or not of this length. */
export function decompress(codec: number, bytes: Uint8Array, length: number): Uint8Array | undefined {
  try {
    const options = { maxOutputLength: Math.max(1, length) }
    const restored =
      codec === NUMBERS.deflate
        ? zlib.inflateRawSync(bytes, options)
        : codec === NUMBERS.zstd && hasZstd
          ? zlib.zstdDecompressSync(bytes, options)
          : undefined
    return restored?.length === length ? restored : undefined
  } catch {
    return undefined
  }
}
