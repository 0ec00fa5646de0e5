/** Runs one thing after the other: proofs share a processor with the page, and a node with other visitors. */
export class ProofTurns {
  #last: Promise<unknown> = Promise.resolve()

  /** Runs something after all that were to run before it; what nobody waits for any more is not begun. @throws as what runs */
  take<T>(run: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const mine = this.#last.then(() => {
      signal.throwIfAborted()
      return run()
    })
    this.#last = mine.catch(() => {})
    return mine
  }
}
