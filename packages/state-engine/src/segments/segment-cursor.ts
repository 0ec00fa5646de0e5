import { KeyBuffer } from '../bytes/key-buffer.js'
import { entryCountOf, startOfEntry } from './block-layout.js'
import { faultOfContent } from './check-content.js'
import { compareBytes } from './compare-bytes.js'
import { EntryReader } from './entry-reader.js'
import { BLOCK_HEAD_LENGTH } from './format.js'
import { openBlock } from './segment-blocks.js'
import type { SegmentReader } from './segment-reader.js'

const READ_AT_ONCE = 2 ** 20

export interface SegmentCursorOptions {
  /** Block with which it begins. */
  readonly firstBlock?: number
  /** Whether each length in a block is followed before its entries are read: the file may be of somebody else. */
  readonly checksContent?: boolean
}

/** All entries of a segment in order, for merges: reads blocks by the megabyte, and verifies each. */
export class SegmentCursor {
  /** The writes of the entry at the cursor. They are valid until it moves. */
  readonly entry = new EntryReader()
  /** The key of the entry. */
  readonly key = new KeyBuffer()
  /** Whether the entry at the cursor has another key than the one before. */
  isNewKey = true
  readonly #reader: SegmentReader
  readonly #checksContent: boolean
  #nextBlock = 0
  #entriesLeft = 0
  #entries = 0
  #chunk = new Uint8Array(READ_AT_ONCE)
  #chunkStart = 0
  #chunkEnd = 0
  #content: Uint8Array = new Uint8Array(0)

  constructor(reader: SegmentReader, { firstBlock = 0, checksContent = false }: SegmentCursorOptions = {}) {
    this.#reader = reader
    this.#nextBlock = firstBlock
    this.#checksContent = checksContent
  }

  /** Number of the block of the entry. */
  get block(): number {
    return this.#nextBlock - 1
  }

  /** Tag of the entry. */
  get tag(): number {
    return this.#content[3 + this.#entries - this.#entriesLeft]!
  }

  /** Moves to the next entry, at first to the first one. Returns whether there is one. @throws `store_corrupt` */
  next(): boolean {
    const { entry } = this
    const isFirst = this.#entriesLeft === 0
    if (isFirst) {
      if (this.#nextBlock === this.#reader.index.count) return false
      this.#loadBlock()
    }
    this.#entriesLeft--
    const content = this.#content
    const length = entry.readVarint(content) - 1
    const start = entry.next
    // The first entry of a block has its key in any case.
    this.isNewKey = length >= 0 && !(isFirst && this.#hasKey(content, start, length))
    if (this.isNewKey) this.key.take(content, start, start + length)
    entry.read(content, start + Math.max(0, length))
    return true
  }

  #hasKey(content: Uint8Array, start: number, length: number): boolean {
    if (this.#nextBlock === 1) return false
    const { bytes, length: lengthBefore } = this.key
    return compareBytes(content, start, start + length, bytes, 0, lengthBefore) === 0
  }

  #loadBlock(): void {
    const { index, file } = this.#reader
    const start = index.placeOf(this.#nextBlock)
    const end = index.placeOf(this.#nextBlock + 1)
    this.#nextBlock++
    if (end > this.#chunkEnd) this.#readChunk(start, end)
    const bytes = this.#chunk.subarray(start - this.#chunkStart, end - this.#chunkStart)
    const content = openBlock(file, start, bytes)
    const fault = this.#checksContent ? faultOfContent(content) : undefined
    if (fault !== undefined) throw file.damaged(start + BLOCK_HEAD_LENGTH, fault)
    this.#content = content
    this.#entries = entryCountOf(content, 0)
    this.#entriesLeft = this.#entries
    if (this.#entriesLeft === 0) throw file.damaged(start + BLOCK_HEAD_LENGTH, 'a block has no entries')
    this.entry.next = startOfEntry(content, 0, 0)
  }

  /** Reads a block, and up to a megabyte that follows it. */
  #readChunk(start: number, end: number): void {
    const { index, file } = this.#reader
    const stop = Math.max(end, Math.min(start + READ_AT_ONCE, index.placeOf(index.count)))
    if (stop - start > this.#chunk.length) this.#chunk = new Uint8Array(stop - start)
    file.read(this.#chunk.subarray(0, stop - start), start)
    this.#chunkStart = start
    this.#chunkEnd = stop
  }
}
