import { bytesToHexDigits } from '@ledger-state/core/bytes'

/** The state keys that a read used, whether or not they have a value and whether or not a cache had it. */
export class ReadTrace {
  readonly #keys = new Map<string, Uint8Array>()

  /** Notes a key; each counts once. */
  add(key: Uint8Array): void {
    const text = bytesToHexDigits(key)
    if (!this.#keys.has(text)) this.#keys.set(text, Uint8Array.from(key))
  }

  /** Keys by their texts in hex, in the order of the first use. */
  get keys(): ReadonlyMap<string, Uint8Array> {
    return this.#keys
  }
}
