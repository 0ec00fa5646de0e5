import { freeBytes } from '../protocol/free-bytes.js'

const NOTHING = Buffer.alloc(0)

/**
 * Collects the chunks of a body. It copies them into one block of memory that doubles: a list of chunks of one byte
 * each would take a hundred times their bytes.
 */
export class ChunkCollector {
  #bytes: Buffer = NOTHING
  #length = 0
  /** Whether nothing else refers to the block, so that its memory may be freed. */
  #isOwnBlock = false

  get length(): number {
    return this.#length
  }

  /** Bytes of memory that it takes. */
  get heldBytes(): number {
    return this.#bytes.length
  }

  /**
   * Adds a chunk.
   * @param isOwn whether nothing else refers to the chunk, so that its memory may be freed
   */
  add(chunk: Buffer, isOwn = false): void {
    const length = this.#length + chunk.length
    // Most bodies are one chunk, which is kept without a copy.
    if (this.#length === 0) {
      this.#bytes = chunk
      this.#isOwnBlock = isOwn
    } else {
      if (length > this.#bytes.length) {
        const grown = Buffer.allocUnsafeSlow(Math.max(length, this.#bytes.length * 2))
        this.#bytes.copy(grown, 0, 0, this.#length)
        this.#freeBlock()
        this.#bytes = grown
        this.#isOwnBlock = true
      }
      chunk.copy(this.#bytes, this.#length)
    }
    this.#length = length
  }

  /** Frees the unused rest of the block. Call it once all chunks were added, as the body may be held for long. */
  trim(): void {
    if (!this.#isOwnBlock || this.#bytes.length === this.#length) return
    const exact = Buffer.allocUnsafeSlow(this.#length)
    this.#bytes.copy(exact, 0, 0, this.#length)
    this.#freeBlock()
    this.#bytes = exact
    this.#isOwnBlock = true
  }

  /** All added bytes. `clear` frees them. */
  get bytes(): Buffer {
    return this.#bytes.length === this.#length ? this.#bytes : this.#bytes.subarray(0, this.#length)
  }

  /** Returns all added bytes for the caller to keep, and empties the collector. */
  take(): Buffer {
    const taken = this.bytes
    this.#isOwnBlock = false
    this.clear()
    return taken
  }

  clear(): void {
    this.#freeBlock()
    this.#bytes = NOTHING
    this.#length = 0
  }

  #freeBlock(): void {
    if (this.#isOwnBlock) freeBytes(this.#bytes)
    this.#isOwnBlock = false
  }
}
