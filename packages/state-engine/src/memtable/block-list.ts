import { partitionPoint } from '@ledger-state/core'
import type { BlockEntry } from '@ledger-state/engine/authoring'
import { grown } from './grown.js'

const NUMBERS = 3

/** Copy of a list for another thread. */
export interface BlockListCopy {
  readonly first: bigint
  readonly versions: Uint32Array<ArrayBuffer>
  readonly numbers: BigUint64Array<ArrayBuffer>
}

/** Blocks that begin in a segment, ascending. */
export class BlockList {
  /** First version of the first block, from which versions are counted. */
  #first = 0n
  #versions = new Uint32Array(8)
  #numbers = new BigUint64Array(8 * NUMBERS)
  #count = 0

  static ofCopy({ first, versions, numbers }: BlockListCopy): BlockList {
    const list = new BlockList()
    list.#first = first
    list.#versions = versions
    list.#numbers = numbers
    list.#count = versions.length
    return list
  }

  copy(): BlockListCopy {
    const versions = this.#versions.slice(0, this.#count)
    return { first: this.#first, versions, numbers: this.#numbers.slice(0, NUMBERS * this.#count) }
  }

  get count(): number {
    return this.#count
  }

  get byteSize(): number {
    return this.#count * (4 + 8 * NUMBERS)
  }

  at(place: number): BlockEntry {
    const numbers = this.#numbers
    const at = place * NUMBERS
    const block = { height: numbers[at]!, epoch: numbers[at + 1]!, timestampUsec: numbers[at + 2]! }
    return { firstVersion: this.#first + BigInt(this.#versions[place]!), block }
  }

  newestAtMost(version: bigint): BlockEntry | undefined {
    const count = this.#countAtMost(version)
    return count > 0 ? this.at(count - 1) : undefined
  }

  oldestAbove(version: bigint): BlockEntry | undefined {
    const count = this.#countAtMost(version)
    return count < this.#count ? this.at(count) : undefined
  }

  /** Number of blocks that begin above a version. */
  countAbove(version: bigint): number {
    return this.#count - this.#countAtMost(version)
  }

  /** Number of blocks that begin at or below a version. */
  #countAtMost(version: bigint): number {
    if (version < this.#first) return 0
    const relative = Number(version - this.#first)
    return partitionPoint(this.#versions.subarray(0, this.#count), (one) => one <= relative)
  }

  push({ firstVersion, block }: BlockEntry): void {
    if (this.#count === 0) this.#first = firstVersion
    const at = this.#count++
    this.#versions = grown(this.#versions, this.#count)
    this.#numbers = grown(this.#numbers, this.#count * NUMBERS)
    this.#versions[at] = Number(firstVersion - this.#first)
    this.#numbers.set([block.height, block.epoch, block.timestampUsec], at * NUMBERS)
  }

  /** Removes the blocks that begin above a version. */
  cutAfter(version: bigint): void {
    this.#count = this.#countAtMost(version)
  }

  /** Removes all blocks but the first `count`. */
  truncate(count: number): void {
    this.#count = count
  }
}
