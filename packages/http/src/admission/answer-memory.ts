import { AnswerBytes } from './answer-bytes.js'
import type { LoadShedder } from './load-shedder.js'

/** Memory of one answer while it is built, counted against `maxAnswerBytes`. */
export class AnswerMemory {
  readonly #load: LoadShedder
  readonly #bodies: AnswerBytes[] = []
  #countedBytes = 0
  /** Whether another thread reads the answer, so that its memory cannot be freed. */
  isBeingRead = false

  constructor(load: LoadShedder) {
    this.#load = load
  }

  /**
   * Counts bytes before they are taken.
   * @throws `overloaded` if answers have all that they may, and none of them has stalled
   */
  hold(bytes: number): void {
    this.#load.hold(bytes)
    this.#countedBytes += bytes
  }

  /** Creates a body that counts what it takes. */
  openBody(): AnswerBytes {
    const body = new AnswerBytes((bytes) => this.hold(bytes))
    this.#bodies.push(body)
    return body
  }

  /** Ends the counting: the answer was handed to its socket, or is dropped. */
  release(): void {
    this.#load.release(this.#countedBytes)
    this.#countedBytes = 0
  }

  /** Frees the bodies, unless another thread reads them. The socket must have sent what it got of them. */
  free(): void {
    if (this.isBeingRead) return
    for (const body of this.#bodies.splice(0)) body.free()
  }
}
