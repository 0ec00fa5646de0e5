import type { Buffer } from 'node:buffer'

/** Keys of a generation; of two generations together some 20 MiB. */
const GENERATION = 100_000

/** Hashes of keys that the store has: those need not be sent again. */
export class KnownKeys {
  #young = new Set<string>()
  #old = new Set<string>()

  has(hash: Buffer): boolean {
    const text = hash.toString('latin1')
    return this.#young.has(text) || this.#old.has(text)
  }

  add(hashes: Iterable<Buffer>): void {
    for (const hash of hashes) {
      if (this.#young.size === GENERATION) {
        this.#old = this.#young
        this.#young = new Set()
      }
      this.#young.add(hash.toString('latin1'))
    }
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }
}
