import type { ProofResult } from './proof-task.ts'

/** Number of entries that are verified without being asked for. Each takes at least one request and 50 ms. */
const MOST_UNASKED = 20

/** State of the proofs of one list, while it is shown. */
export class ProofsOfList {
  readonly #asked = new Set<string>()
  readonly #outcomes = new Map<string, ProofResult>()

  /**
   * Whether an entry that came into sight is verified now. Entries beyond the first ones wait until the visitor asks.
   */
  admits(name: string): boolean {
    if (this.#asked.size < MOST_UNASKED) this.#asked.add(name)
    return this.#asked.has(name)
  }

  ask(name: string): void {
    this.#asked.add(name)
  }

  outcomeOf(name: string): ProofResult | undefined {
    return this.#outcomes.get(name)
  }

  keep(name: string, outcome: ProofResult): void {
    this.#outcomes.set(name, outcome)
  }
}
