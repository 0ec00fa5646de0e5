import type { KeyBuffer } from '../bytes/key-buffer.js'
import { ByteOutput, toBytes } from './byte-output.js'
import { compareBytes } from './compare-bytes.js'
import { INDEX_BYTES_PER_BLOCK } from './format.js'

/** Version of a separator that has none. */
const NO_VERSION = -1

// The index of blocks. The separator of a block is the shortest beginning of its first key that is above all keys of the
// block before. If the block continues the last key of that one, it is the whole key, with the version that the block begins with. The
// separator of the first block is empty.

/** Collects the index of a segment while its blocks are written. */
export class BlockIndexBuilder {
  readonly #separators = new ByteOutput()
  readonly #ends: number[] = []
  readonly #versions: number[] = []
  readonly #places: number[] = []

  get count(): number {
    return this.#places.length
  }

  /** Length of the index and of the separators so far. */
  get byteSize(): number {
    return this.count * INDEX_BYTES_PER_BLOCK + this.#separators.length
  }

  /**
   * Adds a block, which begins at a place with a key and a version. `before` is the last key of the block before it,
   * undefined for the first block.
   */
  add(place: number, key: KeyBuffer, before: KeyBuffer | undefined, version: number): void {
    if (before) {
      let common = 0
      while (common < key.length && common < before.length && key.bytes[common] === before.bytes[common]) common++
      const isSame = common === key.length && common === before.length
      this.#separators.part(key.bytes, 0, isSame ? key.length : common + 1)
      this.#versions.push(isSame ? version : NO_VERSION)
    } else this.#versions.push(NO_VERSION)
    this.#ends.push(this.#separators.length)
    this.#places.push(place)
  }

  get separators(): Uint8Array {
    return this.#separators.view()
  }

  /** Encodes the index. The last block ends at `end`. */
  encode(end: number): Uint8Array {
    const { count } = this
    const bytes = new Uint8Array(count * INDEX_BYTES_PER_BLOCK + 4)
    const views = indexViews(bytes, count)
    views.versions.set(this.#versions)
    views.ends.set(this.#ends)
    views.places.set(this.#places)
    views.places[count] = end
    const separators = this.#separators.view()
    const skipped = commonLength(separators, views.ends)
    for (let block = 1; block < count; block++) {
      const [start, stop] = [views.ends[block - 1]!, views.ends[block]!]
      views.words[block] = wordAt(separators, start + skipped, stop)
      const startBefore = block === 1 ? 0 : views.ends[block - 2]!
      const isSame = stop > start && compareBytes(separators, start, stop, separators, startBefore, start) === 0
      views.firsts[block] = isSame ? views.firsts[block - 1]! : block
    }
    return bytes
  }
}

interface IndexViews {
  readonly versions: Float64Array
  readonly words: Uint32Array
  readonly ends: Uint32Array
  readonly firsts: Uint32Array
  readonly places: Uint32Array
}

function indexViews(bytes: Uint8Array, count: number): IndexViews {
  const at = bytes.byteOffset
  return {
    versions: new Float64Array(bytes.buffer, at, count),
    words: new Uint32Array(bytes.buffer, at + 8 * count, count),
    ends: new Uint32Array(bytes.buffer, at + 12 * count, count),
    firsts: new Uint32Array(bytes.buffer, at + 16 * count, count),
    places: new Uint32Array(bytes.buffer, at + 20 * count, count + 1),
  }
}

/** Number of bytes that all separators but the first, which is empty, begin with. They ascend. */
function commonLength(separators: Uint8Array, ends: Uint32Array): number {
  const count = ends.length
  if (count < 3) return 0
  const [first, last] = [ends[0]!, ends[count - 2]!]
  const most = Math.min(ends[1]! - first, ends[count - 1]! - last)
  let length = 0
  while (length < most && separators[first + length] === separators[last + length]) length++
  return length
}

/** Four bytes, as a number that sorts as they do. Bytes beyond the end count as zeros. */
function wordAt(bytes: Uint8Array, at: number, end: number): number {
  let word = 0
  for (let part = 0; part < 4; part++) word = word * 256 + (at + part < end ? bytes[at + part]! : 0)
  return word
}

/** The index of a segment, which is searched where it lies. */
export class BlockIndex {
  readonly count: number
  readonly #views: IndexViews
  readonly #separators: Uint8Array
  readonly #skipped: number

  constructor(bytes: Uint8Array, separators: Uint8Array, count: number) {
    this.count = count
    this.#views = indexViews(bytes, count)
    this.#separators = toBytes(separators)
    this.#skipped = commonLength(separators, this.#views.ends)
  }

  /** Place of a block; that of number `count` is the end of the last block. */
  placeOf(block: number): number {
    return this.#views.places[block]!
  }

  /** Whether a block begins with further writes of a key, which ends the block before. */
  continues(block: number, key: Uint8Array): boolean {
    const { versions, ends } = this.#views
    if (block >= this.count || versions[block] === NO_VERSION) return false
    return compareBytes(this.#separators, this.#startOf(block), ends[block]!, key, 0, key.length) === 0
  }

  /** Number of the only block that may have the newest write of a key at or below a version, less the first of the file. */
  blockOf(key: Uint8Array, version: number): number {
    const { count } = this
    const skipped = this.#skipped
    const separators = this.#separators
    if (skipped > 0) {
      const begin = this.#views.ends[0]!
      for (let at = 0; at < skipped; at++) {
        const expected = separators[begin + at]!
        if (at >= key.length || key[at]! < expected) return 0
        if (key[at]! > expected) return count - 1
      }
    }
    const { words } = this.#views
    const word =
      skipped + 4 <= key.length
        ? ((key[skipped]! << 24) | (key[skipped + 1]! << 16) | (key[skipped + 2]! << 8) | key[skipped + 3]!) >>> 0
        : wordAt(key, skipped, key.length)
    let least = 1
    let most = count
    while (least < most) {
      const middle = (least + most) >>> 1
      if (words[middle]! < word) least = middle + 1
      else most = middle
    }
    if (least >= count || words[least]! > word) return least - 1
    return this.#lastOfWord(key, version, word, least) - 1
  }

  /** Number of the first separator, counted from `first`, that is above a key at a version, if separators have this word. */
  #lastOfWord(key: Uint8Array, version: number, word: number, first: number): number {
    const { words, firsts, versions, ends } = this.#views
    const { count } = this
    // Finds the end of the separators with the word, in steps that double.
    let below = first
    let above = first + 1
    for (let step = 1; above < count && words[above] === word; step *= 2) {
      below = above
      above += step
    }
    above = Math.min(above, count)
    while (below + 1 < above) {
      const middle = (below + above) >>> 1
      if (words[middle] === word) below = middle
      else above = middle
    }
    const separators = this.#separators
    let least = first
    let most = above
    // Bytes that the key shares with the separators on both sides, and so with all between them.
    let sharedBelow = this.#skipped
    let sharedAbove = this.#skipped
    // Separators of one key are compared once.
    let compared = -1
    let order = 0
    let shared = 0
    while (least < most) {
      const middle = (least + most) >>> 1
      if (firsts[middle] !== compared) {
        compared = firsts[middle]!
        const start = this.#startOf(middle)
        const length = ends[middle]! - start
        const shorter = length < key.length ? length : key.length
        shared = sharedBelow < sharedAbove ? sharedBelow : sharedAbove
        while (shared < shorter && separators[start + shared] === key[shared]) shared++
        order = shared < shorter ? separators[start + shared]! - key[shared]! : length - key.length
      }
      if (order < 0 || (order === 0 && versions[middle]! <= version)) {
        least = middle + 1
        sharedBelow = shared
      } else {
        most = middle
        sharedAbove = shared
      }
    }
    return least
  }

  #startOf(block: number): number {
    return block === 0 ? 0 : this.#views.ends[block - 1]!
  }
}
