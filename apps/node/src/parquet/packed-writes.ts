import type { BlockInfo } from '@ledger-state/core'

/** Bytes that a write counts in addition to its key and its value. */
const WRITE_BYTES = 64
/** One buffer that grows to 64 MiB takes 1.4 s of CPU, chunks of 1 MiB 0.02 s. */
const CHUNK_BYTES = 1 << 20
/** A write of more bytes that does not fit into the chunk gets its own, so little of a chunk stays empty. */
const LARGE_WRITE_BYTES = CHUNK_BYTES / 8
/** Numbers of a write among the places: its chunk, where it starts there, and the lengths of its key and its value. */
const PLACE_WIDTH = 4
/** Length of the value of a deletion. */
const DELETED = 0xffffffff

export interface WrittenKey {
  readonly key: Uint8Array
  readonly value: Uint8Array | null
}

/** A block by its first and last version. */
export interface ExportedBlock extends BlockInfo {
  readonly firstVersion: bigint
  readonly lastVersion: bigint
}

/** The writes of consecutive versions in a few buffers, which a thread gets without a copy. */
export interface PackedWrites {
  readonly first: bigint
  /** Keys, each before its value. */
  readonly chunks: readonly Uint8Array<ArrayBuffer>[]
  /** Where each write is, as `PLACE_WIDTH` numbers. */
  readonly places: Uint32Array<ArrayBuffer>
  /** Number of writes of each version. */
  readonly counts: Uint32Array<ArrayBuffer>
  /** Time of the block of each version, in microseconds. */
  readonly times: BigInt64Array<ArrayBuffer>
  /** Blocks that ended before a version of the range. */
  readonly blocks: readonly ExportedBlock[]
}

/** Packs the writes of consecutive versions, in order. */
export class WritePacker {
  readonly #first: bigint
  readonly #chunks: Uint8Array<ArrayBuffer>[] = []
  /** Chunk that small writes go to, and where the next one starts. */
  #chunk = -1
  #chunkEnd = CHUNK_BYTES
  readonly #places: number[] = []
  readonly #counts: number[] = []
  readonly #times: bigint[] = []
  readonly #blocks: ExportedBlock[] = []
  #bytes = 0

  constructor(first: bigint) {
    this.#first = first
  }

  /** Number of writes so far. */
  get count(): number {
    return this.#places.length / PLACE_WIDTH
  }

  /** Bytes of the writes so far, and of the values that are read with them. */
  get bytes(): number {
    return this.#bytes
  }

  /** Counts bytes that are read later for the versions so far. */
  countOthers(bytes: number): void {
    this.#bytes += bytes
  }

  /** Begins the next version. */
  beginVersion(timestampUsec: bigint): void {
    this.#counts.push(0)
    this.#times.push(timestampUsec)
  }

  /** Adds a write of the last version that began. */
  add({ key, value }: WrittenKey): void {
    const size = key.length + (value?.length ?? 0)
    const place = this.#reserve(size)
    const chunk = this.#chunks[place.chunk]!
    chunk.set(key, place.start)
    if (value) chunk.set(value, place.start + key.length)
    this.#places.push(place.chunk, place.start, key.length, value ? value.length : DELETED)
    this.#counts[this.#counts.length - 1]!++
    this.#bytes += size + WRITE_BYTES
  }

  addBlock(block: ExportedBlock): void {
    this.#blocks.push(block)
  }

  /** The writes, which the packer then no longer has. */
  take(): PackedWrites {
    return {
      first: this.#first,
      chunks: this.#chunks,
      places: new Uint32Array(this.#places),
      counts: new Uint32Array(this.#counts),
      times: new BigInt64Array(this.#times),
      blocks: this.#blocks,
    }
  }

  /** Makes room for a write in one chunk. */
  #reserve(size: number): { readonly chunk: number; readonly start: number } {
    if (this.#chunkEnd + size > CHUNK_BYTES) {
      if (size > LARGE_WRITE_BYTES) return { chunk: this.#chunks.push(new Uint8Array(size)) - 1, start: 0 }
      this.#chunk = this.#chunks.push(new Uint8Array(CHUNK_BYTES)) - 1
      this.#chunkEnd = 0
    }
    const start = this.#chunkEnd
    this.#chunkEnd += size
    return { chunk: this.#chunk, start }
  }
}

/** The buffers of packed writes. */
export function buffersOf({ chunks, places, counts, times }: PackedWrites): ArrayBuffer[] {
  return [...chunks.map(({ buffer }) => buffer), places.buffer, counts.buffer, times.buffer]
}

/** Reads packed writes by their numbers. */
export class WriteReader {
  readonly count: number
  readonly #packed: PackedWrites
  /** Number of the version of each write, counted from the first. */
  readonly #versions: Uint32Array

  constructor(packed: PackedWrites) {
    const { places, counts } = packed
    this.#packed = packed
    this.count = places.length / PLACE_WIDTH
    this.#versions = new Uint32Array(this.count)
    for (let version = 0, write = 0; version < counts.length; version++) {
      for (let left = counts[version]!; left > 0; left--) this.#versions[write++] = version
    }
  }

  version(write: number): bigint {
    return this.#packed.first + BigInt(this.#versions[write]!)
  }

  time(write: number): bigint {
    return this.#packed.times[this.#versions[write]!]!
  }

  /** The key, a view of the buffer. */
  key(write: number): Uint8Array {
    const { chunk, start, keyLength } = this.#placeOf(write)
    return chunk.subarray(start, start + keyLength)
  }

  /** The value, a view of the buffer; null for a deletion. */
  value(write: number): Uint8Array | null {
    const { chunk, start, keyLength, valueLength } = this.#placeOf(write)
    if (valueLength === DELETED) return null
    return chunk.subarray(start + keyLength, start + keyLength + valueLength)
  }

  #placeOf(write: number) {
    const { chunks, places } = this.#packed
    const at = PLACE_WIDTH * write
    return {
      chunk: chunks[places[at]!]!,
      start: places[at + 1]!,
      keyLength: places[at + 2]!,
      valueLength: places[at + 3]!,
    }
  }
}
