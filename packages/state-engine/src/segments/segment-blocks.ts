import { copyBytes } from '@ledger-state/core/bytes'
import { checksum } from '../bytes/checksum.js'
import type { BlockCache, CacheOwner } from './block-cache.js'
import type { BlockIndex } from './block-index.js'
import { decompress, STORED } from './codec.js'
import { BLOCK_HEAD_LENGTH, blockSeed } from './format.js'
import type { SegmentFile } from './segment-file.js'
import type { SegmentMap } from './segment-map.js'
import { VerifyEpochs } from './verify-epochs.js'

const FIRST_BUFFER_BYTES = 2 ** 14
const NOT_CACHED = -1

/** Blocks are verified when they are touched first. */
const VERIFIED_ONCE = new VerifyEpochs()

/**
 * The contents of the blocks of a file: in the map if the file is mapped and the block is stored as it is, else in the
 * cache. The first touch of a block reads it from the file and compares it with its checksum. The first touch of a mapped
 * block in each later epoch compares it again, because the file may have been damaged since. If many epochs do, they
 * share a copy, which cannot be damaged.
 */
export class SegmentBlocks implements CacheOwner {
  /** The bytes that have the content of the block that was loaded last, valid until the next one is loaded. */
  bytes: Uint8Array = new Uint8Array(0)
  /** Offset of the content in these bytes. */
  base = 0
  readonly #file: SegmentFile
  readonly #index: BlockIndex
  readonly #segmentMap: SegmentMap | undefined
  /** The segment in memory, once the file is mapped. */
  #map: Uint8Array | undefined
  readonly #cache: BlockCache
  /** Place in the cache of each block. */
  readonly #places: Int32Array
  /** Number of the epoch in which the block was compared with its checksum in the map; 0 before, and if it is compressed. */
  #verifiedIn = new Uint32Array(0)
  readonly #epochs: VerifyEpochs
  #buffer = new Uint8Array(FIRST_BUFFER_BYTES)

  constructor(
    file: SegmentFile,
    index: BlockIndex,
    segmentMap: SegmentMap | undefined,
    { cache, epochs = VERIFIED_ONCE }: { readonly cache: BlockCache; readonly epochs?: VerifyEpochs | undefined },
  ) {
    this.#file = file
    this.#index = index
    this.#segmentMap = segmentMap
    this.#cache = cache
    this.#places = new Int32Array(index.count).fill(NOT_CACHED)
    this.#epochs = epochs
  }

  /** Loads the content of a block. @throws `store_corrupt` */
  load(block: number): void {
    const place = this.#places[block]!
    if (place !== NOT_CACHED) {
      this.bytes = this.#cacheOf(block).at(place)
      this.base = 0
    } else if (this.#map && this.#verifiedIn[block] !== 0) {
      const at = this.#index.placeOf(block)
      this.bytes = this.#map
      this.base = at + BLOCK_HEAD_LENGTH
      if (this.#verifiedIn[block] !== this.#epochs.current) this.#verifyAgain(block, at, this.#map)
    } else this.#read(block)
  }

  /** Whether `load` finds a block in memory: in the cache, or in a map whose block was touched. */
  isLoaded(block: number): boolean {
    return this.#places[block] !== NOT_CACHED || (this.#map !== undefined && this.#verifiedIn[block] !== 0)
  }

  dropped(block: number): void {
    this.#places[block] = NOT_CACHED
  }

  /** Forgets all blocks. */
  clear(): void {
    this.bytes = new Uint8Array(0)
    for (const [block, place] of this.#places.entries()) {
      if (place !== NOT_CACHED) this.#cacheOf(block).remove(place)
      this.#places[block] = NOT_CACHED
    }
  }

  /** The cache in which a block has its place: the map has the blocks that are stored as they are. */
  #cacheOf(block: number): BlockCache {
    return this.#map && this.#verifiedIn[block] !== 0 ? this.#epochs.copies : this.#cache
  }

  #verifyAgain(block: number, at: number, map: Uint8Array): void {
    const mapped = map.subarray(at, this.#index.placeOf(block + 1))
    const isCopied = this.#epochs.takesCopy(this.#verifiedIn[block]!, mapped.length)
    const content = openBlock(this.#file, at, isCopied ? copyBytes(mapped) : mapped)
    this.#verifiedIn[block] = this.#epochs.current
    if (!isCopied) return
    this.#places[block] = this.#epochs.copies.put(this, block, content) ?? NOT_CACHED
    this.bytes = content
    this.base = 0
  }

  #takeMap(): void {
    this.#map = this.#segmentMap?.take()
    if (this.#map) this.#verifiedIn = new Uint32Array(this.#index.count)
  }

  #read(block: number): void {
    const at = this.#index.placeOf(block)
    const length = this.#index.placeOf(block + 1) - at
    if (!this.#map) this.#takeMap()
    if (length > this.#buffer.length) this.#buffer = new Uint8Array(2 * length)
    const bytes = this.#buffer.subarray(0, length)
    this.#file.read(bytes, at)
    const content = openBlock(this.#file, at, bytes)
    if (this.#map && bytes[4] === STORED) {
      this.#verifiedIn[block] = this.#epochs.current
      this.bytes = this.#map
      this.base = at + BLOCK_HEAD_LENGTH
      return
    }
    // Uncompressed content lies in the buffer of the next read.
    this.bytes = bytes[4] === STORED ? copyBytes(content) : content
    this.base = 0
    this.#places[block] = this.#cache.put(this, block, this.bytes) ?? NOT_CACHED
  }
}

/** Compares a block with its checksum, and returns its content. @throws `store_corrupt` */
export function openBlock(file: SegmentFile, place: number, bytes: Uint8Array): Uint8Array {
  if (bytes.length < BLOCK_HEAD_LENGTH) throw file.damaged(place, `a block has ${bytes.length} bytes`)
  const crc = u32(bytes, 0)
  if (crc !== checksum(bytes, 4, bytes.length, blockSeed(file.seed, place))) {
    throw file.damaged(place, 'a block does not match its checksum')
  }
  const content = bytes.subarray(BLOCK_HEAD_LENGTH)
  const length = u32(bytes, 8)
  const restored = bytes[4] === STORED ? content.subarray(0, length) : decompress(bytes[4]!, content, length)
  if (restored?.length !== length) throw file.damaged(place, `a block of codec ${bytes[4]} cannot be restored`)
  return restored
}

function u32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
}
