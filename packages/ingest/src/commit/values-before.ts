import type { AsyncStateSnapshot } from '@ledger-state/engine'

/** Values that keys have before a commit. The parts of an ingest that need some share one look-up. */
export class ValuesBefore {
  readonly #keys = new Map<string, Uint8Array>()
  readonly #values = new Map<string, Uint8Array>()

  /** Asks for a key. @param name `keyName` of the key */
  ask(name: string, key: Uint8Array): void {
    this.#keys.set(name, key)
  }

  /** Loads all keys that were asked for. */
  async load(held: AsyncStateSnapshot): Promise<void> {
    if (!held.ledger || this.#keys.size === 0) return
    const names = [...this.#keys.keys()]
    const entries = await held.at().load([...this.#keys.values()])
    for (const [at, entry] of entries.entries()) if (entry) this.#values.set(names[at]!, entry.value)
  }

  /** The value of a key that was asked for; undefined if the store does not have the key. */
  get(name: string): Uint8Array | undefined {
    return this.#values.get(name)
  }
}
