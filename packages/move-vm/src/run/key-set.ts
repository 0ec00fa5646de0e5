import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { areSameBytes } from './same-bytes.js'

/** Most keys that are compared one by one. */
const MOST_COMPARED = 16

/** A set of state keys. The first ones are compared byte by byte, which is faster than to make texts of them. */
export class KeySet {
  readonly #first: Uint8Array[] = []
  #texts: Set<string> | undefined

  has(key: Uint8Array): boolean {
    for (const one of this.#first) if (areSameBytes(one, key)) return true
    return this.#texts?.has(bytesToHexDigits(key)) ?? false
  }

  /** Adds a key that the set does not have. The bytes must not change. */
  add(key: Uint8Array): void {
    if (this.#first.length < MOST_COMPARED) this.#first.push(key)
    else {
      this.#texts ??= new Set()
      this.#texts.add(bytesToHexDigits(key))
    }
  }
}
