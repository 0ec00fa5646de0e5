interface Kept<V> {
  readonly value: V
  readonly size: number
}

/** Part of the capacity that one entry may take by default. */
const LARGEST_SHARE = 1 / 16

/**
 * A cache bounded by the size of what it holds, in a unit of the caller's, such as bytes. Entries stand in two
 * generations, each of half the capacity. A hit moves an entry to the young generation; when that is full, it becomes
 * the old one, and what was left in the old one is evicted. Unlike a strict order of use, this adds almost nothing to the
 * look-up of a hit. An entry above `largestEntry` is not kept.
 */
export class SizedCache<K, V extends {}> {
  readonly #generationSize: number
  readonly #largestEntry: number
  #young = new Map<K, Kept<V>>()
  #old = new Map<K, Kept<V>>()
  #youngSize = 0
  #oldSize = 0

  /** `largestEntry` is at most half of the capacity, by default a sixteenth. */
  constructor(capacity: number, largestEntry = capacity * LARGEST_SHARE) {
    this.#generationSize = capacity / 2
    this.#largestEntry = Math.min(largestEntry, this.#generationSize)
  }

  /** Size of all entries, of which some are held and counted twice; never above the capacity. */
  get size(): number {
    return this.#youngSize + this.#oldSize
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young.value
    const old = this.#old.get(key)
    if (old === undefined) return undefined
    this.#keep(key, old)
    return old.value
  }

  set(key: K, value: V, size: number): void {
    if (size > this.#largestEntry) this.delete(key)
    else this.#keep(key, { value, size })
  }

  delete(key: K): void {
    const young = this.#young.get(key)
    if (young !== undefined) this.#youngSize -= young.size
    const old = this.#old.get(key)
    if (old !== undefined) this.#oldSize -= old.size
    this.#young.delete(key)
    this.#old.delete(key)
  }

  #keep(key: K, kept: Kept<V>): void {
    const before = this.#young.get(key)
    if (before !== undefined) this.#youngSize -= before.size
    if (this.#youngSize + kept.size > this.#generationSize) {
      this.#old = this.#young
      this.#oldSize = this.#youngSize
      if (before !== undefined) this.#old.delete(key)
      this.#young = new Map()
      this.#youngSize = 0
    }
    this.#young.set(key, kept)
    this.#youngSize += kept.size
  }
}
