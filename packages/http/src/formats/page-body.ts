import type { AnswerBytes } from '../admission/answer-bytes.js'

/** Body to which a page is written, item by item. */
export interface PageBody<T> {
  /** Bytes written so far. */
  readonly length: number
  /**
   * Adds an item and counts its memory.
   * @throws `overloaded`
   */
  add(item: T): void
  /** Ends the body, in turns of the event loop if much is left to write. */
  end(): AnswerBytes | Promise<AnswerBytes>
}
