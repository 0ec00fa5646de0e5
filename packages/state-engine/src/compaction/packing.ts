import { totalmem } from 'node:os'
import type { SegmentWriterOptions } from '../segments/segment-writer.js'

/** Whether blocks of files that are seldom merged again are compressed: `auto` once the store exceeds half of the memory. */
export type Compress = 'auto' | 'always' | 'never'

/** How the blocks of a file are stored. */
export type Packing = Pick<Required<SegmentWriterOptions>, 'codec' | 'patches'>

/** Level from which on files are seldom merged again. */
const FIRST_FINAL_LEVEL = 2

/**
 * Packing of files of a level. Patches take half of the bytes of whole values, and are searched where they lie. A compressed
 * block costs 10 to 30 µs when it is read, which pays once it saves a read of the disk. Zstd is no smaller here, and Node has
 * it from 22.15 on alone.
 */
export function packingOf(level: number, storeBytes: number, compress: Compress, memoryBytes = totalmem()): Packing {
  const isFinal = level >= FIRST_FINAL_LEVEL
  const isWanted = compress === 'always' || (compress === 'auto' && storeBytes > memoryBytes / 2)
  return { patches: isFinal, codec: isFinal && isWanted ? 'deflate' : 'none' }
}
