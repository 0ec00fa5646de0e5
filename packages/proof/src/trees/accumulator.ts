import { ByteReader, ByteWriter } from '@ledger-state/core'
import { HASH_LENGTH } from '../hashes/hash-bytes.js'
import { ACCUMULATOR_PLACEHOLDER, type LedgerHasher } from '../hashes/ledger-hasher.js'
import { levelsOf } from './levels-of.js'

type AccumulatorName = 'EventAccumulator' | 'TransactionAccumulator'

/** Leaves are counted as JavaScript numbers, which are exact up to here. */
export const MAX_LEAVES = Number.MAX_SAFE_INTEGER

/**
 * The first `count` leaves of an append-only Merkle tree, as the roots of its full subtrees: one at each level whose bit
 * is set in `count`. That is enough to append leaves, and to compute the root from the siblings to the right.
 */
export class AccumulatorFrontier {
  readonly #hasher: LedgerHasher
  readonly #name: AccumulatorName
  #subtrees: (Uint8Array | undefined)[] = []
  #count = 0

  constructor(hasher: LedgerHasher, name: AccumulatorName) {
    this.#hasher = hasher
    this.#name = name
  }

  /**
   * The frontier of `count` leaves from its subtrees, which are the left siblings of leaf `count`, the lowest first.
   * Undefined where their number does not fit.
   */
  static fromSubtrees(
    hasher: LedgerHasher,
    name: AccumulatorName,
    count: number,
    subtrees: readonly Uint8Array[],
  ): AccumulatorFrontier | undefined {
    const frontier = new AccumulatorFrontier(hasher, name)
    frontier.#count = count
    let used = 0
    for (let rest = count, level = 0; rest > 0; rest = Math.floor(rest / 2), level++) {
      frontier.#subtrees[level] = rest % 2 === 1 ? subtrees[used++] : undefined
    }
    return used === subtrees.length && !frontier.subtrees.includes(undefined as never) ? frontier : undefined
  }

  /** A copy, to which leaves can be appended without changing this one. */
  clone(): AccumulatorFrontier {
    const copy = new AccumulatorFrontier(this.#hasher, this.#name)
    copy.#count = this.#count
    copy.#subtrees = [...this.#subtrees]
    return copy
  }

  get count(): number {
    return this.#count
  }

  /** The lowest first. */
  get subtrees(): Uint8Array[] {
    const subtrees: Uint8Array[] = []
    for (let rest = this.#count, level = 0; rest > 0; rest = Math.floor(rest / 2), level++) {
      if (rest % 2 === 1) subtrees.push(this.#subtrees[level]!)
    }
    return subtrees
  }

  /** Appends the hash of the next leaf. */
  append(leaf: Uint8Array): void {
    let node = leaf
    let level = 0
    for (let rest = this.#count; rest % 2 === 1; rest = Math.floor(rest / 2)) {
      node = this.#hasher.hashPair(this.#name, this.#subtrees[level]!, node)
      this.#subtrees[level++] = undefined
    }
    this.#subtrees[level] = node
    this.#count++
  }

  /** Root of the tree that has only these leaves. */
  root(): Uint8Array {
    if (this.#count === 0) return ACCUMULATOR_PLACEHOLDER
    return this.#fold(levelsOf(this.#count), () => ACCUMULATOR_PLACEHOLDER)!
  }

  /**
   * Root of the tree of `total` leaves that begins with these, from the siblings to the right, the lowest first.
   * Undefined where their number does not fit, or where that tree has fewer leaves.
   */
  rootWithin(total: number, rightSiblings: readonly Uint8Array[]): Uint8Array | undefined {
    if (total < this.#count) return undefined
    let used = 0
    const root = this.#fold(levelsOf(total), () => rightSiblings[used++])
    return used === rightSiblings.length ? root : undefined
  }

  #fold(levels: number, nextRight: () => Uint8Array | undefined): Uint8Array | undefined {
    let node: Uint8Array | undefined
    let rest = this.#count
    for (let level = 0; level < levels; level++, rest = Math.floor(rest / 2)) {
      const isRightChild = rest % 2 === 1
      if (isRightChild && node) node = this.#hasher.hashPair(this.#name, this.#subtrees[level]!, node)
      else if (isRightChild || node) {
        const right = nextRight()
        if (!right) return undefined
        node = this.#hasher.hashPair(this.#name, node ?? this.#subtrees[level]!, right)
      }
    }
    return node ?? this.#subtrees[levels]
  }

  /** u64 count, then the subtrees, the lowest first. */
  toBytes(): Uint8Array {
    const writer = new ByteWriter().u64(BigInt(this.#count))
    for (const subtree of this.subtrees) writer.bytes(subtree)
    return writer.toBytes()
  }

  /** Undefined where the bytes are not a frontier. */
  static fromBytes(hasher: LedgerHasher, name: AccumulatorName, bytes: Uint8Array): AccumulatorFrontier | undefined {
    if (bytes.length < 8 || bytes.length % HASH_LENGTH !== 8) return undefined
    const reader = new ByteReader(bytes)
    const count = Number(reader.readU64())
    const subtrees: Uint8Array[] = []
    while (reader.remaining > 0) subtrees.push(Uint8Array.from(reader.readBytes(HASH_LENGTH)))
    return count <= MAX_LEAVES ? AccumulatorFrontier.fromSubtrees(hasher, name, count, subtrees) : undefined
  }
}
