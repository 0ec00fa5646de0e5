import type { ProofOutcome } from './use-proof.ts'

/** Entries that are verified without being asked; each takes a request or some, and 50 ms and more. */
const MOST_UNASKED = 20

/** What is known of the proofs of one list, while it is shown. */
export class ProofsOfList {
  readonly #asked = new Set<string>()
  readonly #outcomes = new Map<string, ProofOutcome>()

  /** Whether an entry that came into sight is verified now; those beyond the first ones wait until somebody asks. */
  admits(name: string): boolean {
    if (this.#asked.size < MOST_UNASKED) this.#asked.add(name)
    return this.#asked.has(name)
  }

  ask(name: string): void {
    this.#asked.add(name)
  }

  outcomeOf(name: string): ProofOutcome | undefined {
    return this.#outcomes.get(name)
  }

  keep(name: string, outcome: ProofOutcome): void {
    this.#outcomes.set(name, outcome)
  }
}
