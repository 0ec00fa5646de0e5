import { AnswerBytes } from './answer-bytes.js'
import type { ChunkPool } from './chunk-pool.js'
import type { LoadShedder } from './load-shedder.js'

/** Memory of one answer while it is built, counted against `maxAnswerBytes`. */
export class AnswerMemory {
  readonly #load: LoadShedder
  readonly #chunks: ChunkPool
  readonly #bodies: AnswerBytes[] = []
  #countedBytes = 0
  /** Whether another thread reads the answer, so that its memory cannot be freed. */
  #isBeingRead = false

  constructor({ load, chunks }: { readonly load: LoadShedder; readonly chunks: ChunkPool }) {
    this.#load = load
    this.#chunks = chunks
  }

  /**
   * Counts bytes before they are allocated.
   * @throws `overloaded` if answers have used up their memory, and none of them has stalled
   */
  hold(bytes: number): void {
    this.#load.hold(bytes)
    this.#countedBytes += bytes
  }

  /** Creates a body that counts the memory it allocates. */
  openBody(): AnswerBytes {
    const body = new AnswerBytes((bytes) => this.hold(bytes), this.#chunks)
    this.#bodies.push(body)
    return body
  }

  /** Ends the counting, because the answer was handed to its socket or is dropped. */
  release(): void {
    this.#load.release(this.#countedBytes)
    this.#countedBytes = 0
  }

  /** Keeps the bodies from being freed while another thread reads them. */
  async whileRead<T>(reading: Promise<T>): Promise<T> {
    this.#isBeingRead = true
    try {
      return await reading
    } finally {
      this.#isBeingRead = false
    }
  }

  /** Frees all bodies but one. */
  freeOthers(kept: unknown): void {
    for (const body of this.#bodies) if (body !== kept) body.free()
  }

  /** Frees the bodies, unless another thread reads them. The socket must have sent the bytes that it got of them. */
  free(): void {
    if (this.#isBeingRead) return
    for (const body of this.#bodies.splice(0)) body.free()
  }
}
