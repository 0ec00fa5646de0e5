import type { TransactionRecord } from './transaction-record.js'

/** Most kinds that are told apart. */
const MOST_KINDS = 16

/** The reasons why transactions of a chunk or a page were not decoded. */
export class UndecodedKinds {
  readonly #kinds = new Set<string>()

  get list(): readonly string[] {
    return [...this.#kinds]
  }

  add({ undecoded }: TransactionRecord): void {
    if (undecoded !== undefined && this.#kinds.size < MOST_KINDS) this.#kinds.add(undecoded)
  }
}
