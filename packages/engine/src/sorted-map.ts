import { partitionPoint } from '@ledger-state/core'

/** A map that lists its keys in order. Keys that are new since the last list are sorted when the next is asked for. */
export class SortedMap<Value> extends Map<string, Value> {
  #sorted: readonly string[] = []
  #added: string[] = []
  #hasDeleted = false

  override set(key: string, value: Value): this {
    if (!this.has(key)) this.#added.push(key)
    return super.set(key, value)
  }

  override delete(key: string): boolean {
    const isDeleted = super.delete(key)
    if (isDeleted) this.#hasDeleted = true
    return isDeleted
  }

  /** All keys in the order of their UTF-16 code units. A list never changes. */
  sortedKeys(): readonly string[] {
    if (this.#hasDeleted) this.#sorted = [...this.keys()].sort()
    // The sort takes linear time for two sorted parts.
    else if (this.#added.length > 0) this.#sorted = [...this.#sorted, ...this.#added.sort()].sort()
    this.#added = []
    this.#hasDeleted = false
    return this.#sorted
  }

  /** The keys that begin with a prefix, starting at a first key, in order. */
  *keysFrom(first: string, prefix: string): Generator<string> {
    const keys = this.sortedKeys()
    const from = first > prefix ? first : prefix
    for (let at = partitionPoint(keys, (key) => key < from); at < keys.length; at++) {
      if (!keys[at]!.startsWith(prefix)) return
      yield keys[at]!
    }
  }
}
