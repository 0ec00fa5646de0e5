import type { KeyBuffer } from '../bytes/key-buffer.js'
import { CONTENT_HEAD_LENGTH } from './block-layout.js'
import { ByteOutput, MAX_VARINT_LENGTH } from './byte-output.js'
import { MOST_BLOCK_ENTRIES } from './format.js'

/** Largest end of an entry that takes 2 bytes. */
const MOST_NARROW = 0xffff

/** Puts entries into the content of a block. */
export class BlockWriter {
  readonly #entries = new ByteOutput()
  readonly #tags = new Uint8Array(MOST_BLOCK_ENTRIES)
  readonly #ends = new Uint32Array(MOST_BLOCK_ENTRIES)
  readonly #content = new ByteOutput()
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Length of the entries so far. */
  get byteSize(): number {
    return this.#entries.length
  }

  /** Whether an entry fits into a block of about `most` bytes. The first one always does. */
  hasRoom(entryBytes: number, most: number): boolean {
    if (this.#count === 0) return true
    if (this.#count === MOST_BLOCK_ENTRIES) return false
    return this.#entries.length + entryBytes + 3 * (this.#count + 1) + CONTENT_HEAD_LENGTH <= most
  }

  /** Adds an entry. `key` is undefined if it has the key of the entry before. */
  add(tag: number, key: KeyBuffer | undefined, head: ByteOutput, body: ByteOutput): void {
    const entries = this.#entries
    entries.varint(key ? key.length + 1 : 0)
    if (key) entries.part(key.bytes, 0, key.length)
    entries.part(head.bytes, 0, head.length)
    entries.part(body.bytes, 0, body.length)
    this.#tags[this.#count] = tag
    this.#ends[this.#count++] = entries.length
  }

  /** Ends the block. Returns its content, valid until the next one is ended. */
  end(): Uint8Array {
    const content = this.#content
    const entries = this.#entries
    const width = entries.length > MOST_NARROW ? 4 : 2
    content.length = 0
    const bytes = content.reserve(CONTENT_HEAD_LENGTH + (1 + width) * this.#count + entries.length + MAX_VARINT_LENGTH)
    bytes[0] = 0
    bytes[1] = width
    bytes[2] = this.#count & 0xff
    bytes[3] = this.#count >>> 8
    bytes.set(this.#tags.subarray(0, this.#count), CONTENT_HEAD_LENGTH)
    let at = CONTENT_HEAD_LENGTH + this.#count
    for (let entry = 0; entry < this.#count; entry++) {
      let rest = this.#ends[entry]!
      for (let part = 0; part < width; part++, rest >>>= 8) bytes[at++] = rest & 0xff
    }
    content.length = at
    content.part(entries.bytes, 0, entries.length)
    entries.length = 0
    this.#count = 0
    return content.view()
  }
}
