import { Buffer } from 'node:buffer'
import { entryCountOf, startOfEntry } from './block-layout.js'
import type { SegmentMatch } from './block-search.js'
import { compareBytes } from './compare-bytes.js'
import { ABSENT, type Found } from './found.js'
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
    const { index, blocks } = this.#reader
    blocks.load(this.#block)
    const entry = this.#firstKeyFrom(this.#place + 1)
    if (entry !== undefined) {
      this.#take(entry)
      return
    }
    // The writes of a key may fill many blocks. The next key is in the last of them, or begins the block after it.
    this.#block = index.continues(this.#block + 1, key) ? index.blockOf(key, Number.MAX_SAFE_INTEGER) : this.#block + 1
    this.#place = 0
    this.#findFrom(key, 1)
  }

  /**
   * Finds the newest write of the key at or below a version, less the first of the file, and puts it into `match`.
   * Undefined if the writes of the key continue in the next block.
   * @throws `store_corrupt`
   */
  find(version: number, match: SegmentMatch): Found | undefined {
    if (version < 0) return ABSENT
    const { blocks } = this.#reader
    blocks.load(this.#block)
    this.#readKeyLength(this.#place)
    return match.findFrom(blocks.bytes, blocks.base, this.#place, this.#entry.next + this.#key!.length, version)
  }

  /** Moves on to the first key whose order to `key` is at least `least`. */
  #findFrom(key: Uint8Array, least: number): void {
    const { index, blocks } = this.#reader
    this.#key = undefined
    for (; this.#block < index.count; this.#block++, this.#place = 0) {
      blocks.load(this.#block)
      let entry = this.#firstKeyFrom(this.#place)
      for (; entry !== undefined; entry = this.#firstKeyFrom(entry + 1)) {
        const length = this.#readKeyLength(entry)
        const start = this.#entry.next
        if (compareBytes(blocks.bytes, start, start + length, key, 0, key.length) < least) continue
        this.#take(entry)
        return
      }
    }
  }

  /** Takes the key of an entry of the loaded block. */
  #take(entry: number): void {
    const length = this.#readKeyLength(entry)
    this.#place = entry
    this.#key = Buffer.allocUnsafe(length)
    const { bytes } = this.#reader.blocks
    const start = this.#entry.next
    for (let at = 0; at < length; at++) this.#key[at] = bytes[start + at]!
  }

  /** First entry of the loaded block, at or after one, that has a key. */
  #firstKeyFrom(place: number): number | undefined {
    const { bytes, base } = this.#reader.blocks
    const count = entryCountOf(bytes, base)
    for (let entry = place; entry < count; entry++) if (bytes[this.#startOf(entry)] !== 0) return entry
    return undefined
  }

  /** Length of the key of an entry of the loaded block. The key begins at `#entry.next`. */
  #readKeyLength(entry: number): number {
    const { bytes } = this.#reader.blocks
    this.#entry.next = this.#startOf(entry)
    return this.#entry.readVarint(bytes) - 1
  }

  #startOf(entry: number): number {
    const { bytes, base } = this.#reader.blocks
    return startOfEntry(bytes, base, entry)
  }
}
