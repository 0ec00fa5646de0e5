/** A place of a cache: the bytes of a block, and who is notified when they go. */
interface Place {
  bytes: Uint8Array
  owner: CacheOwner
  block: number
  isUsed: boolean
}

/** Someone whose blocks are cached. */
export interface CacheOwner {
  /** Called when the cache drops a block. */
  dropped(block: number): void
}

/** Bytes of a place in addition to the block. */
const PLACE_BYTES = 200

/** Contents of blocks in memory, bounded by bytes. The oldest that was not used since the hand of the clock passed it goes. */
export class BlockCache {
  readonly #limit: number
  #used = 0
  #places: (Place | undefined)[] = []
  #free: number[] = []
  #hand = 0

  constructor(limitBytes: number) {
    this.#limit = limitBytes
  }

  get usedBytes(): number {
    return this.#used
  }

  /** Takes a block. Returns the number of its place, or undefined if the block is longer than the cache. */
  put(owner: CacheOwner, block: number, bytes: Uint8Array): number | undefined {
    const size = bytes.length + PLACE_BYTES
    if (size > this.#limit) return undefined
    while (this.#used + size > this.#limit) this.#evict()
    const number = this.#free.pop() ?? this.#places.length
    this.#places[number] = { bytes, owner, block, isUsed: false }
    this.#used += size
    return number
  }

  /** The bytes in a place that `put` returned and that was not dropped since. */
  at(number: number): Uint8Array {
    const place = this.#places[number]!
    place.isUsed = true
    return place.bytes
  }

  /** Empties a place. Its owner is not notified. */
  remove(number: number): void {
    this.#used -= this.#places[number]!.bytes.length + PLACE_BYTES
    this.#places[number] = undefined
    this.#free.push(number)
  }

  #evict(): void {
    for (;;) {
      if (this.#hand >= this.#places.length) this.#hand = 0
      const place = this.#places[this.#hand]
      if (place && !place.isUsed) break
      if (place) place.isUsed = false
      this.#hand++
    }
    const { owner, block } = this.#places[this.#hand]!
    this.remove(this.#hand)
    owner.dropped(block)
  }
}
