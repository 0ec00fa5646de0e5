import { ADDRESS_LENGTH } from '@ledger-state/core'

/** Addresses or handles, each once, in the order of their bytes. Arrays can be such lists. */
export interface IdList extends Iterable<Uint8Array> {
  readonly length: number
}

/** Ids of one block. A list that grows adds blocks, and never copies them. */
const BLOCK_BITS = 16
const BLOCK_IDS = 1 << BLOCK_BITS
const WORDS = ADDRESS_LENGTH / 4
/** Length up to which ranges are sorted by insertion. */
const SHORT = 12

/** A list of addresses or handles in 32 bytes for each; an array of them takes four times as much. */
export class PackedIds implements IdList {
  readonly #blocks: Uint32Array[] = []
  readonly #pivot = new Uint32Array(WORDS)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Adds an id at the end. `settle` sorts the list. */
  add(id: Uint8Array): void {
    if (this.#length % BLOCK_IDS === 0) this.#blocks.push(new Uint32Array(BLOCK_IDS * WORDS))
    const block = this.#blocks.at(-1)!
    const at = firstWord(this.#length)
    // Compared as numbers, words have the order of their bytes.
    for (let word = 0; word < WORDS; word++) {
      const byte = 4 * word
      block[at + word] = (id[byte]! << 24) | (id[byte + 1]! << 16) | (id[byte + 2]! << 8) | id[byte + 3]!
    }
    this.#length++
  }

  /** Sorts the ids, and keeps each once. */
  settle(): this {
    this.#sort(0, this.#length - 1)
    let kept = 0
    for (let at = 0; at < this.#length; at++) {
      if (kept > 0 && this.#isSame(kept - 1, at)) continue
      if (kept < at) this.#swap(kept, at)
      kept++
    }
    this.#length = kept
    this.#blocks.length = Math.ceil(kept / BLOCK_IDS)
    return this
  }

  *[Symbol.iterator](): Generator<Uint8Array> {
    for (let at = 0; at < this.#length; at++) {
      const block = this.#blockOf(at)
      const first = firstWord(at)
      const id = new Uint8Array(ADDRESS_LENGTH)
      for (let byte = 0; byte < ADDRESS_LENGTH; byte++)
        id[byte] = block[first + (byte >>> 2)]! >>> (24 - 8 * (byte & 3))
      yield id
    }
  }

  #blockOf(at: number): Uint32Array {
    return this.#blocks[at >>> BLOCK_BITS]!
  }

  #isSame(left: number, right: number): boolean {
    return compareWords(this.#blockOf(left), firstWord(left), this.#blockOf(right), firstWord(right)) === 0
  }

  #swap(left: number, right: number): void {
    const a = this.#blockOf(left)
    const b = this.#blockOf(right)
    const from = firstWord(left)
    const of = firstWord(right)
    for (let word = 0; word < WORDS; word++) {
      const held = a[from + word]!
      a[from + word] = b[of + word]!
      b[of + word] = held
    }
  }

  /** Quicksort in place. It recurses into the shorter part. */
  #sort(first: number, last: number): void {
    let low = first
    let high = last
    while (high - low >= SHORT) {
      const middle = this.#partition(low, high)
      if (middle - low < high - middle) {
        this.#sort(low, middle)
        low = middle + 1
      } else {
        this.#sort(middle + 1, high)
        high = middle
      }
    }
    for (let at = low + 1; at <= high; at++) {
      this.#takePivot(at)
      for (let place = at; place > low && this.#compareWithPivot(place - 1) > 0; place--) this.#swap(place - 1, place)
    }
  }

  /**
   * Returns a place such that no id up to it is greater than any id after it. The pivot is random, because files are
   * often sorted.
   */
  #partition(low: number, high: number): number {
    this.#takePivot(low + Math.floor(Math.random() * (high - low)))
    let left = low - 1
    let right = high + 1
    for (;;) {
      do left++
      while (this.#compareWithPivot(left) < 0)
      do right--
      while (this.#compareWithPivot(right) > 0)
      if (left >= right) return right
      this.#swap(left, right)
    }
  }

  #takePivot(at: number): void {
    const block = this.#blockOf(at)
    const first = firstWord(at)
    for (let word = 0; word < WORDS; word++) this.#pivot[word] = block[first + word]!
  }

  #compareWithPivot(at: number): number {
    return compareWords(this.#blockOf(at), firstWord(at), this.#pivot, 0)
  }
}

function firstWord(at: number): number {
  return (at & (BLOCK_IDS - 1)) * WORDS
}

function compareWords(a: Uint32Array, from: number, b: Uint32Array, of: number): number {
  for (let word = 0; word < WORDS; word++) {
    const left = a[from + word]!
    const right = b[of + word]!
    if (left !== right) return left < right ? -1 : 1
  }
  return 0
}
