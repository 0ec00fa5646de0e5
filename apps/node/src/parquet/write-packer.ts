import { keyName } from '@ledger-state/records/writes-hash'
import { ByteOutput, putPatch } from '@ledger-state/state-engine/patches'
import { GrowingArray } from './growing-array.js'
import { DELETED, type ExportedBlock, KEY_WIDTH, type PackedWrites, WRITE_WIDTH } from './packed-writes.js'

/** Bytes that a write takes in addition to its value or its patch, also in the thread that sorts it. */
const WRITE_BYTES = 40
/** Bytes that a key takes in addition to its own, in both threads. */
const KEY_BYTES = 400
/** One buffer that grows to 64 MiB takes 1.4 s of CPU, chunks of 1 MiB 0.02 s. */
const CHUNK_BYTES = 1 << 20
/** More bytes that do not fit into the chunk get their own, so little of a chunk stays empty. */
const LARGE_BYTES = CHUNK_BYTES / 8

export interface WrittenKey {
  readonly key: Uint8Array
  readonly value: Uint8Array | null
}

interface Place {
  readonly chunk: number
  readonly start: number
}

/** Packs the writes of consecutive versions, in order. */
export class WritePacker {
  readonly #first: bigint
  readonly #chunks: Uint8Array<ArrayBuffer>[] = []
  /** Chunk that few bytes go to, and where the next ones start. */
  #chunk = -1
  #chunkEnd = CHUNK_BYTES
  readonly #numbers = new Map<string, number>()
  readonly #keys = new GrowingArray(Uint32Array)
  /** The last write of each key that has its whole value; `DELETED` if there is none. */
  readonly #bases = new GrowingArray(Uint32Array)
  readonly #writes = new GrowingArray(Uint32Array)
  readonly #counts = new GrowingArray(Uint32Array)
  readonly #times = new GrowingArray(BigInt64Array)
  readonly #blocks: ExportedBlock[] = []
  readonly #patch = new ByteOutput()
  #bytes = 0

  constructor(first: bigint) {
    this.#first = first
  }

  /** Number of writes so far. */
  get count(): number {
    return this.#writes.length / WRITE_WIDTH
  }

  /** Bytes that the writes so far take, and the values that are read with them. */
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
    const number = this.#numberOf(key)
    const version = this.#counts.length - 1
    this.#counts.set(version, this.#counts.at(version) + 1)
    this.#bytes += WRITE_BYTES
    if (value === null) {
      this.#addWrite(number, DELETED, { chunk: 0, start: 0 }, 0)
      return
    }
    const base = this.#bases.at(number)
    if (base !== DELETED && this.#makePatch(base, value)) {
      const { bytes, length } = this.#patch
      this.#addWrite(number, base, this.#put(bytes.subarray(0, length)), length)
    } else {
      this.#bases.set(number, this.count)
      this.#addWrite(number, this.count, this.#put(value), value.length)
    }
  }

  addBlock(block: ExportedBlock): void {
    this.#blocks.push(block)
  }

  /** The writes, which the packer then no longer has. */
  take(): PackedWrites {
    return {
      first: this.#first,
      chunks: this.#chunks,
      keys: this.#keys.view(),
      writes: this.#writes.view(),
      counts: this.#counts.view(),
      times: this.#times.view(),
      blocks: this.#blocks,
    }
  }

  #numberOf(key: Uint8Array): number {
    const name = keyName(key)
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    const number = this.#keys.length / KEY_WIDTH
    const { chunk, start } = this.#put(key)
    this.#numbers.set(name, number)
    this.#keys.push(chunk)
    this.#keys.push(start)
    this.#keys.push(key.length)
    this.#bases.push(DELETED)
    this.#bytes += KEY_BYTES
    return number
  }

  #addWrite(key: number, base: number, { chunk, start }: Place, length: number): void {
    this.#writes.push(key)
    this.#writes.push(base)
    this.#writes.push(chunk)
    this.#writes.push(start)
    this.#writes.push(length)
  }

  /** Makes the patch from the value of a base, unless that saves little. */
  #makePatch(base: number, value: Uint8Array): boolean {
    const at = WRITE_WIDTH * base
    if (this.#writes.at(at + 4) !== value.length) return false
    this.#patch.length = 0
    const [chunk, start] = [this.#chunks[this.#writes.at(at + 2)]!, this.#writes.at(at + 3)]
    return putPatch(this.#patch, chunk, start, value, 0, value.length)
  }

  /** Copies bytes into one chunk. */
  #put(bytes: Uint8Array): Place {
    const place = this.#reserve(bytes.length)
    this.#chunks[place.chunk]!.set(bytes, place.start)
    this.#bytes += bytes.length
    return place
  }

  #reserve(size: number): Place {
    if (this.#chunkEnd + size > CHUNK_BYTES) {
      if (size > LARGE_BYTES) return { chunk: this.#chunks.push(new Uint8Array(size)) - 1, start: 0 }
      this.#chunk = this.#chunks.push(new Uint8Array(CHUNK_BYTES)) - 1
      this.#chunkEnd = 0
    }
    const start = this.#chunkEnd
    this.#chunkEnd += size
    return { chunk: this.#chunk, start }
  }
}
