import { Buffer } from 'node:buffer'
import { endAt } from './block-search.js'
import { compareBytes } from './compare-bytes.js'
import type { SegmentReader } from './segment-reader.js'
import { VarintReader } from './varint-reader.js'

/** Version below all of a file. */
const BEFORE_ALL = -1

/** The keys of a segment in order, for scans. A key is met once, however many writes it has. */
export class SegmentKeys {
  readonly #reader: SegmentReader
  readonly #entry = new VarintReader()
  #block = 0
  #place = 0
  #key: Uint8Array | undefined

  constructor(reader: SegmentReader) {
    this.#reader = reader
  }

  /** Copy of the key at the cursor; undefined after the last one. */
  get key(): Uint8Array | undefined {
    return this.#key
  }

  /** Moves to the first key at or above one. @throws `store_corrupt` */
  seek(key: Uint8Array): void {
    const { index } = this.#reader
    if (index.count === 0) return
    this.#block = index.blockOf(key, BEFORE_ALL)
    this.#place = 0
    this.#findFrom(key, 0)
  }

  /** Moves to the next key. @throws `store_corrupt` */
  next(): void {
    const key = this.#key
    if (!key) return
    this.#place++
    // The writes of a key may fill many blocks. The next key is in the last of them, or begins the block after it.
    if (this.#isContinued(key)) {
      this.#block = this.#reader.index.blockOf(key, Number.MAX_SAFE_INTEGER)
      this.#place = 0
    }
    this.#findFrom(key, 1)
  }

  /** Whether no further key begins in the block, and the next block continues this one. */
  #isContinued(key: Uint8Array): boolean {
    const { index, blocks } = this.#reader
    if (this.#block + 1 >= index.count) return false
    blocks.load(this.#block)
    if (this.#firstKeyFrom(this.#place) !== undefined) return false
    const { key: separator, version } = index.separatorOf(this.#block + 1)
    return version !== undefined && compareBytes(separator, 0, separator.length, key, 0, key.length) === 0
  }

  /** Moves on to the first key whose order to `key` is at least `least`. */
  #findFrom(key: Uint8Array, least: number): void {
    const { index, blocks } = this.#reader
    this.#key = undefined
    for (; this.#block < index.count; this.#block++, this.#place = 0) {
      blocks.load(this.#block)
      for (;;) {
        const entry = this.#firstKeyFrom(this.#place)
        if (entry === undefined) break
        this.#place = entry
        const [start, end] = this.#keyOf(entry)
        if (compareBytes(blocks.bytes, start, end, key, 0, key.length) >= least) {
          this.#key = Buffer.from(blocks.bytes.subarray(start, end))
          return
        }
        this.#place++
      }
    }
  }

  /** First entry of the loaded block, at or after one, that has a key. */
  #firstKeyFrom(place: number): number | undefined {
    const { bytes, base } = this.#reader.blocks
    const count = bytes[base + 2]! | (bytes[base + 3]! << 8)
    for (let entry = place; entry < count; entry++) if (bytes[this.#startOf(entry)] !== 0) return entry
    return undefined
  }

  #keyOf(entry: number): readonly [start: number, end: number] {
    const { bytes } = this.#reader.blocks
    this.#entry.next = this.#startOf(entry)
    const length = this.#entry.readVarint(bytes) - 1
    return [this.#entry.next, this.#entry.next + length]
  }

  #startOf(entry: number): number {
    const { bytes, base } = this.#reader.blocks
    return startOfEntry(bytes, base, entry)
  }
}

/** Offset of an entry of a block whose content begins at `base`. */
export function startOfEntry(bytes: Uint8Array, base: number, entry: number): number {
  const width = bytes[base + 1]!
  const count = bytes[base + 2]! | (bytes[base + 3]! << 8)
  const entries = base + 4 + count * (1 + width)
  return entry === 0 ? entries : entries + endAt(bytes, base + 4 + count, width, entry - 1)
}
