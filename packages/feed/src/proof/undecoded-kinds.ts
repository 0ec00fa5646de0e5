/** Most kinds that are told apart. */
const MOST_KINDS = 16

/** The reasons why transactions of a chunk or a page were not decoded. */
export class UndecodedKinds {
  readonly #kinds = new Set<string>()

  get list(): readonly string[] {
    return [...this.#kinds]
  }

  add(kind: string): void {
    if (this.#kinds.size < MOST_KINDS) this.#kinds.add(kind)
  }
}
