import { freeBytes } from '../protocol/free-bytes.js'

/**
 * Bytes of a chunk. A body that grows in one piece is copied, and the system must find new pages for all of it: one of
 * 24 MB held the event loop for up to 0.1 s.
 */
export const CHUNK_BYTES = 128 * 1024
/** Chunks that are kept while nobody uses them. */
const KEPT_CHUNKS = 64
/** Chunks that are freed in a turn of the event loop. To free 23 MB at once took the system up to 0.2 s. */
const FREED_PER_TURN = 4

/**
 * Memory of answers, in chunks. Chunks that are given back serve later answers. The system gets back all but a few, in
 * many turns of the event loop.
 */
export class ChunkPool {
  readonly #unused: Buffer[] = []
  #isTrimming = false

  /** Chunks that nobody uses. */
  get unused(): number {
    return this.#unused.length
  }

  take(): Buffer {
    return this.#unused.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
  }

  /** Takes a chunk back. Nobody may read it any more. */
  give(chunk: Buffer): void {
    this.#unused.push(chunk)
    this.#trimLater()
  }

  #trimLater(): void {
    if (this.#isTrimming || this.#unused.length <= KEPT_CHUNKS) return
    this.#isTrimming = true
    setImmediate(() => {
      this.#isTrimming = false
      for (let count = 0; count < FREED_PER_TURN && this.#unused.length > KEPT_CHUNKS; count++) {
        freeBytes(this.#unused.pop()!)
      }
      this.#trimLater()
    })
  }
}
