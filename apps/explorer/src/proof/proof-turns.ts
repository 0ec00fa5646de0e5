/** Runs one task after the other, as proofs share a processor with the page, and the node with other visitors. */
export class ProofTurns {
  #last: Promise<unknown> = Promise.resolve()

  /**
   * Runs a task after all earlier ones. A task that is aborted before its turn is not begun.
   * @throws the errors of the task
   */
  take<T>(run: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const mine = this.#last.then(() => {
      signal.throwIfAborted()
      return run()
    })
    this.#last = mine.catch(() => {})
    return mine
  }
}
