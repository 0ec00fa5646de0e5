import { bytesToHexDigits, copyBytes } from '@ledger-state/core/bytes'

/** The state keys that a read used, whether or not they have a value and whether or not a cache had it. */
export class ReadTrace {
  readonly #keys = new Map<string, Uint8Array>()

  /** Notes a key; each counts once. The trace copies it. */
  add(key: Uint8Array): void {
    const text = bytesToHexDigits(key)
    if (!this.#keys.has(text)) this.#keys.set(text, copyBytes(key))
  }

  /** Notes a key that nobody changes. `text` is the key in hex. */
  addNamed(text: string, key: Uint8Array): void {
    if (!this.#keys.has(text)) this.#keys.set(text, key)
  }

  /** Notes the keys of another trace. */
  addAll({ keys }: ReadTrace): void {
    for (const [text, key] of keys) this.addNamed(text, key)
  }

  /** Keys by their texts in hex, in the order of the first use. */
  get keys(): ReadonlyMap<string, Uint8Array> {
    return this.#keys
  }
}
