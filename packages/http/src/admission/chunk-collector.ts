import { freeBytes } from '../protocol/free-bytes.js'

const NOTHING = Buffer.alloc(0)

/**
 * Puts the chunks of a body together. They are copied into one block of memory that doubles: a list of chunks of one
 * byte each would take a hundred times what they hold.
 */
export class ChunkCollector {
  #bytes: Buffer = NOTHING
  #length = 0
  /** Whether nobody else can have the block, so that its memory may be freed. */
  #isOwnBlock = false

  get length(): number {
    return this.#length
  }

  /** Bytes of memory that are taken. */
  get heldBytes(): number {
    return this.#bytes.length
  }

  /** @param isOwn whether nobody else has the chunk, so that its memory may be freed */
  add(chunk: Buffer, isOwn = false): void {
    const length = this.#length + chunk.length
    // Most bodies are one chunk, which is kept as it is.
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

  /** Frees what the block has beyond what was added. To be called when all was added: the body may be held for long. */
  trim(): void {
    if (!this.#isOwnBlock || this.#bytes.length === this.#length) return
    const exact = Buffer.allocUnsafeSlow(this.#length)
    this.#bytes.copy(exact, 0, 0, this.#length)
    this.#freeBlock()
    this.#bytes = exact
    this.#isOwnBlock = true
  }

  /** All bytes that were added. `clear` frees them. */
  get bytes(): Buffer {
    return this.#bytes.length === this.#length ? this.#bytes : this.#bytes.subarray(0, this.#length)
  }

  /** Returns all bytes that were added, for the caller to keep, and empties the collector. */
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
