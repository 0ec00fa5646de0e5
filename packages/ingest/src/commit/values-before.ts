import type { AsyncStateSnapshot } from '@ledger-state/engine'
import { keyName } from '@ledger-state/records/writes-hash'

/** Values that keys have before a commit. The parts of an ingest that need some share one look-up. */
export class ValuesBefore {
  readonly #keys: Uint8Array[] = []
  #values: readonly (Uint8Array | undefined)[] = []
  /** Numbers of keys by their names, which only `askOnce` needs. */
  #numbers: Map<string, number> | undefined

  /** Asks for keys that were not asked for. Returns the number of the first; they are numbered in their order. */
  ask(keys: readonly Uint8Array[]): number {
    for (const key of keys) this.#keys.push(key)
    return this.#keys.length - keys.length
  }

  /** Asks for a key, unless it was asked for. Call it after all calls of `ask`. */
  askOnce(key: Uint8Array): void {
    this.#numbers ??= new Map(this.#keys.map((one, number) => [keyName(one), number]))
    const name = keyName(key)
    if (!this.#numbers.has(name)) this.#numbers.set(name, this.ask([key]))
  }

  /** Loads all keys that were asked for. */
  async load(held: AsyncStateSnapshot): Promise<void> {
    if (!held.ledger || this.#keys.length === 0) return
    const entries = await held.at().load(this.#keys)
    this.#values = entries.map((entry) => entry?.value)
  }

  /** The value of the key with a number; undefined if the store does not have the key. */
  at(number: number): Uint8Array | undefined {
    return this.#values[number]
  }

  /** Whether the store has a key of `askOnce`. */
  has(key: Uint8Array): boolean {
    return this.#values[this.#numbers?.get(keyName(key)) ?? -1] !== undefined
  }
}
