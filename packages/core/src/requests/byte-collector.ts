import { Buffer } from 'node:buffer'

/**
 * Collects bytes that come in pieces. It copies them into one block that doubles: a list of pieces of one byte each
 * would take a hundred times their bytes.
 */
export class ByteCollector {
  readonly #most: number
  #block: Buffer = Buffer.alloc(0)
  #length = 0
  /** Whether nothing else refers to the block. */
  #isOwn = false

  /** @param most bytes that it takes; the block grows no further */
  constructor(most: number) {
    this.#most = most
  }

  get length(): number {
    return this.#length
  }

  /** Adds a piece. Returns false, and adds nothing, if there would be more bytes than it takes. */
  add(piece: Uint8Array): boolean {
    const length = this.#length + piece.length
    if (length > this.#most) return false
    if (this.#length === 0) {
      // Most contents are one piece, which is kept without a copy.
      this.#block = Buffer.from(piece.buffer, piece.byteOffset, piece.length)
      this.#isOwn = false
    } else {
      if (length > this.#block.length) this.#grow(length)
      this.#block.set(piece, this.#length)
    }
    this.#length = length
    return true
  }

  /** Returns all bytes, and empties the collector. */
  take(): Uint8Array {
    const taken = this.#block.subarray(0, this.#length)
    this.#block = Buffer.alloc(0)
    this.#length = 0
    return taken
  }

  /** Same as `take`, as a text in UTF-8. */
  takeText(): string {
    const text = this.#block.toString('utf8', 0, this.#length)
    this.take()
    return text
  }

  #grow(length: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.min(this.#most, Math.max(length, 2 * this.#block.length)))
    grown.set(this.#block.subarray(0, this.#length))
    // At once: the next collection of the old generation may come much later.
    if (this.#isOwn) (this.#block.buffer as ArrayBuffer).transfer?.(0)
    this.#block = grown
    this.#isOwn = true
  }
}
