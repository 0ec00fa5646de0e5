/**
 * A map that forgets what was not used lately: entries live in two generations, of `capacity` each. What is used moves to
 * the young one; when that is full it becomes the old one, and what was left in the old one is gone. Unlike a strict
 * order of use this costs a hit nothing but the look-up.
 */
export class LruMap<K, V extends {}> {
  readonly #capacity: number
  #young = new Map<K, V>()
  #old = new Map<K, V>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: K, value: V): void {
    this.#young.set(key, value)
    if (this.#young.size < this.#capacity) return
    this.#old = this.#young
    this.#young = new Map()
  }
}
