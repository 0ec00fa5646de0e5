import type { Steps } from '@ledger-state/core'
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
  /** Same as `add`, or returns the steps that add the item. Without it, items are added at once. */
  addInSteps?(item: T): Steps<void> | undefined
  /** Ends the body, in turns of the event loop if much is left to write. */
  end(): AnswerBytes | Promise<AnswerBytes>
}

/** Body to which a page is written, item by item, in steps. */
export interface SteppedBody<T> extends Pick<PageBody<T>, 'length' | 'end'> {
  /**
   * Adds an item, or returns the steps that do.
   * @throws `overloaded`
   */
  addInSteps(item: T): Steps<void> | undefined
}

/** A body whose items are brought into another form first. */
export function inForm<T, F>(toForm: (item: T) => Steps<F>, body: PageBody<F>): SteppedBody<T> {
  return {
    get length() {
      return body.length
    },
    *addInSteps(item) {
      const form = yield* toForm(item)
      if (!body.addInSteps) {
        body.add(form)
        return
      }
      const steps = body.addInSteps(form)
      if (steps) yield* steps
    },
    end: () => body.end(),
  }
}
