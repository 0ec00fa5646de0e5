const CHUNK_BYTES = 1 << 20
/** Most bytes of a character of a string in UTF-8, by its UTF-16 units. */
const UNIT_BYTES = 3

/** Texts as UTF-8, outside of the heap. Its chunks are used again after `clear`. */
export class TextArena {
  readonly #chunks: Buffer[] = []
  /** Chunk that the next text goes to, and where. */
  #at = 0
  #end = 0

  /** A view of the text's bytes, until `clear`. */
  add(text: string): Uint8Array {
    const most = text.length * UNIT_BYTES
    if (most > CHUNK_BYTES) return Buffer.from(text)
    if (this.#end + most > CHUNK_BYTES) {
      this.#at++
      this.#end = 0
    }
    const chunk = this.#chunks[this.#at] ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
    this.#chunks[this.#at] = chunk
    const start = this.#end
    this.#end += chunk.write(text, start)
    return chunk.subarray(start, this.#end)
  }

  clear(): void {
    this.#at = 0
    this.#end = 0
  }
}
