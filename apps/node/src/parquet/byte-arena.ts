const CHUNK_BYTES = 1 << 20
/** Most bytes of a character of a string in UTF-8, by its UTF-16 units. */
const UNIT_BYTES = 3

/** Bytes outside of the heap, for a time. Its chunks are used again after `clear`. */
export class ByteArena {
  readonly #chunks: Buffer[] = []
  /** Chunk that the next bytes go to, and where. */
  #at = 0
  #end = 0

  /** A view of a text as UTF-8, until `clear`. */
  addText(text: string): Uint8Array {
    const most = text.length * UNIT_BYTES
    if (most > CHUNK_BYTES) return Buffer.from(text)
    const chunk = this.#chunkFor(most)
    const start = this.#end
    this.#end += chunk.write(text, start)
    return chunk.subarray(start, this.#end)
  }

  /** A view of so many bytes of any content, until `clear`. */
  reserve(length: number): Uint8Array {
    if (length > CHUNK_BYTES) return new Uint8Array(length)
    const chunk = this.#chunkFor(length)
    const start = this.#end
    this.#end += length
    return new Uint8Array(chunk.buffer, chunk.byteOffset + start, length)
  }

  clear(): void {
    this.#at = 0
    this.#end = 0
  }

  /** The chunk at whose end there is room for so many bytes. */
  #chunkFor(most: number): Buffer {
    if (this.#end + most > CHUNK_BYTES) {
      this.#at++
      this.#end = 0
    }
    const chunk = this.#chunks[this.#at] ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
    this.#chunks[this.#at] = chunk
    return chunk
  }
}
