/** Most keys of a generation. Two generations together take about 20 MiB. */
const GENERATION = 100_000

/** Hashes of keys that are known to be in the store, as texts: those keys need not be inserted again. */
export class KnownKeys {
  #young = new Set<string>()
  #old = new Set<string>()

  has(name: string): boolean {
    return this.#young.has(name) || this.#old.has(name)
  }

  add(names: Iterable<string>): void {
    for (const name of names) {
      if (this.#young.size === GENERATION) {
        this.#old = this.#young
        this.#young = new Set()
      }
      this.#young.add(name)
    }
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }
}
