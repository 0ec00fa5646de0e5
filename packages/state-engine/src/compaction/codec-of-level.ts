import type { Compress } from '../lmdb/compress.js'
import { memoryBytes } from '../lmdb/memory-bytes.js'
import type { Codec } from '../segments/codec.js'

/** Least levels whose files are compressed: lower ones are merged again soon. */
const FIRST_LEVELS: Readonly<Record<Compress, number>> = { always: 1, auto: 2, never: Number.POSITIVE_INFINITY }

/**
 * Codec of the files of a level. A compressed block costs 10 to 30 µs when it is read, which pays once it saves a read of the
 * disk. Zstd would save 1 % of the bytes, and Node before 22.15 does not have it.
 */
export function codecOfLevel(level: number, storeBytes: number, compress: Compress, memory = memoryBytes()): Codec {
  const isWanted = compress !== 'auto' || storeBytes > memory / 2
  return isWanted && level >= FIRST_LEVELS[compress] ? 'deflate' : 'none'
}
