import { entryCountOf, startOfEntry } from './block-layout.js'
import { copyPart } from './byte-output.js'
import { compareBytes } from './compare-bytes.js'
import { DELETED, EntryReader } from './entry-reader.js'
import type { KeyProbe } from './key-filter.js'
import type { SegmentReader } from './segment-reader.js'
import { VarintReader } from './varint-reader.js'

const NONE = -1

/** The writes of a key in a segment, in order. Versions are less the first of the file. */
export class SegmentRevisions {
  readonly #reader: SegmentReader
  readonly #probe: KeyProbe
  readonly #varints = new VarintReader()
  #entryReader: EntryReader | undefined
  #block = NONE
  #place = 0
  #write = 0

  /** Takes a key that the probe has hashed with the seed of the file. */
  constructor(reader: SegmentReader, probe: KeyProbe) {
    this.#reader = reader
    this.#probe = probe
  }

  // A history looks at all files, and few of them have the key: an entry reader takes longer to make than to ask a filter.

  get #entry(): EntryReader {
    this.#entryReader ??= new EntryReader()
    return this.#entryReader
  }

  /** Version of the write at the cursor. */
  get version(): number {
    return this.#entry.versions[this.#write]!
  }

  /** Copy of the value at the cursor; null for a deletion. */
  value(): Uint8Array | null {
    const { bytes, starts, ends } = this.#entry
    const end = ends[this.#write]!
    return end === DELETED ? null : copyPart(bytes, starts[this.#write]!, end)
  }

  /** Moves to the newest write at or below a version. Returns whether there is one. @throws `store_corrupt` */
  newestAtMost(version: number): boolean {
    if (!this.#reader.mayHave(this.#probe)) return false
    const block = this.#reader.index.blockOf(this.#probe.key, version)
    const first = this.#firstEntry(block)
    if (first === NONE || !this.#load(block, first) || this.#entry.versions[0]! > version) return false
    let place = first
    while (this.#beginsAtMost(place + 1, version)) place++
    if (place > first) this.#load(block, place)
    this.#write = this.#entry.count - 1
    while (this.version > version) this.#write--
    return true
  }

  /** Moves to the write before the one at the cursor. Returns whether there is one. */
  older(): boolean {
    if (this.#write > 0) {
      this.#write--
      return true
    }
    const { version } = this
    if (this.#place > 0 && this.#hasKeyOfEntryBefore(this.#block, this.#place)) {
      this.#load(this.#block, this.#place - 1)
      this.#write = this.#entry.count - 1
      return true
    }
    return this.newestAtMost(version - 1)
  }

  /** Moves to the write after the one at the cursor. Returns whether there is one. */
  newer(): boolean {
    if (this.#write + 1 < this.#entry.count) {
      this.#write++
      return true
    }
    return this.#loadNextEntry()
  }

  /** Moves to the oldest write at or above a version. Returns whether there is one. @throws `store_corrupt` */
  oldestAtLeast(version: number): boolean {
    if (this.newestAtMost(version)) return this.version === version || this.newer()
    if (!this.#reader.mayHave(this.#probe)) return false
    // All writes of the key are above the version. The first one is where the key begins.
    const block = this.#reader.index.blockOf(this.#probe.key, NONE)
    const first = this.#firstEntry(block)
    this.#write = 0
    return first !== NONE && this.#load(block, first)
  }

  /** Whether an entry of the block that was loaded last has the key of the one before, and begins at or below a version. */
  #beginsAtMost(place: number, version: number): boolean {
    const { bytes, base } = this.#reader.blocks
    if (place >= entryCountOf(bytes, base)) return false
    const at = startOfEntry(bytes, base, place)
    if (bytes[at] !== 0) return false
    this.#varints.next = at + 2
    return this.#varints.readVarint(bytes) <= version
  }

  #hasKeyOfEntryBefore(block: number, place: number): boolean {
    const { blocks } = this.#reader
    blocks.load(block)
    return blocks.bytes[startOfEntry(blocks.bytes, blocks.base, place)] === 0
  }

  #loadNextEntry(): boolean {
    const { index, blocks } = this.#reader
    blocks.load(this.#block)
    if (this.#place + 1 < entryCountOf(blocks.bytes, blocks.base)) {
      if (blocks.bytes[startOfEntry(blocks.bytes, blocks.base, this.#place + 1)] !== 0) return false
      this.#write = 0
      return this.#load(this.#block, this.#place + 1)
    }
    if (!index.continues(this.#block + 1, this.#probe.key)) return false
    this.#write = 0
    return this.#load(this.#block + 1, 0)
  }

  /** First entry of a block that has the key. */
  #firstEntry(block: number): number {
    const { blocks } = this.#reader
    const { key } = this.#probe
    blocks.load(block)
    const { bytes, base } = blocks
    const varints = this.#varints
    for (let place = 0; place < entryCountOf(bytes, base); place++) {
      varints.next = startOfEntry(bytes, base, place)
      const length = varints.readVarint(bytes) - 1
      if (length === key.length && compareBytes(bytes, varints.next, varints.next + length, key, 0, length) === 0)
        return place
    }
    return NONE
  }

  #load(block: number, place: number): boolean {
    const { blocks } = this.#reader
    blocks.load(block)
    const { bytes, base } = blocks
    const entry = this.#entry
    entry.next = startOfEntry(bytes, base, place)
    const length = entry.readVarint(bytes) - 1
    entry.read(bytes, entry.next + Math.max(0, length))
    this.#block = block
    this.#place = place
    return true
  }
}
