import type { BlockCache } from './block-cache.js'
import { BlockIndex } from './block-index.js'
import type { SegmentMatch } from './block-search.js'
import { toBytes } from './byte-output.js'
import type { SegmentIdentity, SegmentSummary } from './format.js'
import { ABSENT, type Found } from './found.js'
import { KeyFilter, type KeyProbe } from './key-filter.js'
import { SegmentBlocks } from './segment-blocks.js'
import { SegmentFile } from './segment-file.js'
import { SegmentMap } from './segment-map.js'
import type { VerifyEpochs } from './verify-epochs.js'

export interface SegmentReaderOptions {
  /** Cache of the blocks that cannot be read where they lie. */
  readonly cache: BlockCache
  /** Whether blocks are read through LMDB's map; otherwise they are read into the cache. */
  readonly isMapped: boolean
  /** Whether the file is mapped when it is opened, so that no look-up waits for that, or when a block is read first. */
  readonly mapsAtOnce?: boolean
  /** Memory in which files keep their indexes and filters; those that do not fit are read through the map. */
  readonly indexMemory?: IndexMemory | undefined
  readonly epochs?: VerifyEpochs | undefined
}

/** Bytes of memory that are left for indexes and filters of mapped files. */
export interface IndexMemory {
  bytesLeft: number
}

/** A segment file that is searched. */
export class SegmentReader {
  readonly file: SegmentFile
  readonly index: BlockIndex
  readonly blocks: SegmentBlocks
  readonly #filter: KeyFilter
  readonly #map: SegmentMap | undefined
  #sketch: Float64Array | undefined
  /** Gives the memory of the index back. */
  #release: () => void = nothing

  /** Opens a file: reads and verifies its index and filter. @throws `store_corrupt` */
  constructor(path: string, { cache, isMapped, mapsAtOnce = false, indexMemory, epochs }: SegmentReaderOptions) {
    this.file = new SegmentFile(path)
    try {
      const { index, separators, filter } = this.summary.parts
      const whole = { start: index.start, end: filter.end }
      this.#map = isMapped ? new SegmentMap(this.file) : undefined
      const isInMap = this.#map && !this.#reserve(whole.end - whole.start, indexMemory)
      const mapped = isInMap || mapsAtOnce ? this.#map?.take() : undefined
      const memory = isInMap && mapped ? undefined : new Uint8Array(whole.end - whole.start)
      for (const [name, part] of Object.entries({ index, separators, filter })) {
        this.file.verifyPart(part, name, memory?.subarray(part.start - whole.start, part.end - whole.start))
      }
      const bytes = memory ?? mapped!.subarray(whole.start, whole.end)
      const partOf = ({ start, end }: { start: number; end: number }) =>
        toBytes(bytes.subarray(start - whole.start, end - whole.start))
      this.index = new BlockIndex(partOf(index), partOf(separators), this.summary.blocks)
      const words = partOf(filter)
      this.#filter = new KeyFilter(new Int32Array(words.buffer, words.byteOffset, words.length / 4))
      this.blocks = new SegmentBlocks(this.file, this.index, this.#map, { cache, epochs })
    } catch (error) {
      this.#release()
      this.#map?.close()
      this.file.close()
      throw error
    }
  }

  get identity(): SegmentIdentity {
    return this.file.identity
  }

  get summary(): SegmentSummary {
    return this.file.summary
  }

  /** The segment in memory, if the file is mapped already. Nobody may read it after `close`. */
  get map(): Uint8Array | undefined {
    return this.#map?.bytes
  }

  /** The sketch of the keys: see `key-sketch.ts`. @throws `store_corrupt` */
  get sketch(): Float64Array {
    if (!this.#sketch) {
      const { sketch } = this.summary.parts
      const bytes = new Uint8Array(sketch.end - sketch.start)
      this.file.verifyPart(sketch, 'sketch', bytes)
      this.#sketch = new Float64Array(bytes.buffer)
    }
    return this.#sketch
  }

  /** Whether the segment may have a key: 0.5 % of those that it does not have pass. */
  mayHave(probe: KeyProbe): boolean {
    return this.#filter.mayHave(probe)
  }

  /**
   * Finds the newest write of a key at or below a version, less the first of the file, and puts it into `match`. The probe
   * must have hashed the key with the seed of this file. @throws `store_corrupt`
   */
  find(probe: KeyProbe, version: number, match: SegmentMatch): Found {
    if (version < 0 || !this.#filter.mayHave(probe)) return ABSENT
    return this.findIn(this.index.blockOf(probe.key, version), probe, version, match)
  }

  /** Same as `find` in the only block that may have the write. @throws `store_corrupt` */
  findIn(block: number, probe: KeyProbe, version: number, match: SegmentMatch): Found {
    const { blocks } = this
    blocks.load(block)
    return match.findIn(blocks.bytes, blocks.base, probe, version)
  }

  /** Closes the file. Results of `find` must not be read any more. */
  close(): void {
    this.blocks.clear()
    this.#release()
    this.#map?.close()
    this.file.close()
  }

  /** Takes memory for the index and filter of a mapped file. Returns whether there is enough. */
  #reserve(bytes: number, memory: IndexMemory | undefined): boolean {
    if (!memory || memory.bytesLeft < bytes) return false
    memory.bytesLeft -= bytes
    this.#release = () => {
      memory.bytesLeft += bytes
      this.#release = nothing
    }
    return true
  }
}

function nothing(): void {}
