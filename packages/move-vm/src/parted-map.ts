/** Most entries of a part: 32,768 entries are moved in a millisecond. */
const MOST_ENTRIES = 32_768

/**
 * A map that grows without pauses. A `Map` moves all its entries whenever their number has doubled, which takes 6 ms for
 * 131,072 of them. This one begins another part instead, and looks a key up in each.
 */
export class PartedMap<Key, Value extends NonNullable<unknown>> {
  readonly #full: Map<Key, Value>[] = []
  #last = new Map<Key, Value>()

  get size(): number {
    return this.#full.reduce((sum, part) => sum + part.size, this.#last.size)
  }

  get(key: Key): Value | undefined {
    const value = this.#last.get(key)
    if (value !== undefined || this.#full.length === 0) return value
    return this.#fullWith(key)?.get(key)
  }

  set(key: Key, value: Value): void {
    const part = this.#fullWith(key) ?? this.#last
    if (part !== this.#last || part.size < MOST_ENTRIES || part.has(key)) part.set(key, value)
    else {
      this.#full.push(part)
      this.#last = new Map([[key, value]])
    }
  }

  delete(key: Key): void {
    const part = this.#fullWith(key) ?? this.#last
    part.delete(key)
  }

  #fullWith(key: Key): Map<Key, Value> | undefined {
    return this.#full.find((part) => part.has(key))
  }
}
