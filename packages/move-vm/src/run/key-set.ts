import { bytesToLatin1 } from '@ledger-state/core/bytes'
import { areSameBytes } from './same-bytes.js'

/** Most keys that are compared one by one. */
const MOST_COMPARED = 16

/** A set of state keys. A few keys are compared byte by byte, which is faster than to make texts of them. */
export class KeySet {
  readonly #few: Uint8Array[] = []
  /** All keys as texts, once there are many. */
  #texts: Set<string> | undefined

  /** Adds a key, whose bytes must not change. Returns whether the set did not have it. */
  add(key: Uint8Array): boolean {
    if (this.#texts) return addTo(this.#texts, bytesToLatin1(key))
    for (const one of this.#few) if (areSameBytes(one, key)) return false
    if (this.#few.length < MOST_COMPARED) this.#few.push(key)
    else this.#texts = new Set([...this.#few, key].map((one) => bytesToLatin1(one)))
    return true
  }
}

function addTo(texts: Set<string>, text: string): boolean {
  const { size } = texts
  return texts.add(text).size > size
}
