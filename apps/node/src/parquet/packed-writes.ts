import type { BlockInfo } from '@ledger-state/core'

/** Bytes that a write counts in addition to its key and its value. */
const WRITE_BYTES = 64
const FIRST_CAPACITY = 1 << 20
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

/** The writes of consecutive versions in one buffer, which a thread gets without a copy. */
export interface PackedWrites {
  readonly first: bigint
  /** Keys and values, one after the other. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The length of each key, and of its value after it. */
  readonly lengths: Uint32Array<ArrayBuffer>
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
  #bytes = new Uint8Array(FIRST_CAPACITY)
  #end = 0
  readonly #lengths: number[] = []
  readonly #counts: number[] = []
  readonly #times: bigint[] = []
  readonly #blocks: ExportedBlock[] = []
  #otherBytes = 0

  constructor(first: bigint) {
    this.#first = first
  }

  /** Number of writes so far. */
  get count(): number {
    return this.#lengths.length / 2
  }

  /** Bytes of the writes so far, and of what is read with them. */
  get bytes(): number {
    return this.#end + this.count * WRITE_BYTES + this.#otherBytes
  }

  /** Counts bytes that are read later for the versions so far. */
  countOthers(bytes: number): void {
    this.#otherBytes += bytes
  }

  /** Begins the next version. */
  beginVersion(timestampUsec: bigint): void {
    this.#counts.push(0)
    this.#times.push(timestampUsec)
  }

  /** Adds a write of the last version that began. */
  add({ key, value }: WrittenKey): void {
    this.#counts[this.#counts.length - 1]!++
    this.#append(key)
    if (value) this.#append(value)
    this.#lengths.push(key.length, value ? value.length : DELETED)
  }

  addBlock(block: ExportedBlock): void {
    this.#blocks.push(block)
  }

  /** The writes, which the packer then no longer has. */
  take(): PackedWrites {
    return {
      first: this.#first,
      bytes: new Uint8Array(this.#bytes.buffer.transfer(this.#end)),
      lengths: Uint32Array.from(this.#lengths),
      counts: Uint32Array.from(this.#counts),
      times: BigInt64Array.from(this.#times),
      blocks: this.#blocks,
    }
  }

  #append(bytes: Uint8Array): void {
    const end = this.#end + bytes.length
    if (end > this.#bytes.length) {
      const capacity = Math.max(end, 2 * this.#bytes.length)
      this.#bytes = new Uint8Array(this.#bytes.buffer.transfer(capacity))
    }
    this.#bytes.set(bytes, this.#end)
    this.#end = end
  }
}

/** The buffers of packed writes. */
export function buffersOf({ bytes, lengths, counts, times }: PackedWrites): ArrayBuffer[] {
  return [bytes.buffer, lengths.buffer, counts.buffer, times.buffer]
}

/** Reads packed writes by their numbers. */
export class WriteReader {
  readonly count: number
  readonly #packed: PackedWrites
  readonly #starts: Float64Array
  /** Number of the version of each write, counted from the first. */
  readonly #versions: Uint32Array

  constructor(packed: PackedWrites) {
    const { lengths, counts } = packed
    this.#packed = packed
    this.count = lengths.length / 2
    this.#starts = new Float64Array(this.count)
    this.#versions = new Uint32Array(this.count)
    for (let write = 0, start = 0; write < this.count; write++) {
      this.#starts[write] = start
      const length = lengths[2 * write + 1]!
      start += lengths[2 * write]! + (length === DELETED ? 0 : length)
    }
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
    const start = this.#starts[write]!
    return this.#packed.bytes.subarray(start, start + this.#packed.lengths[2 * write]!)
  }

  /** The value, a view of the buffer; null for a deletion. */
  value(write: number): Uint8Array | null {
    const { bytes, lengths } = this.#packed
    const length = lengths[2 * write + 1]!
    if (length === DELETED) return null
    const start = this.#starts[write]! + lengths[2 * write]!
    return bytes.subarray(start, start + length)
  }
}
