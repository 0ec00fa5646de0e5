import { ByteReader, ByteWriter } from '@ledger-state/core'
import { copyBytes } from '@ledger-state/core/bytes'
import { HASH_LENGTH } from '../hashes/hash-bytes.js'
import { ACCUMULATOR_PLACEHOLDER, type LedgerHasher } from '../hashes/ledger-hasher.js'
import { levelsOf } from './levels-of.js'

type AccumulatorName = 'EventAccumulator' | 'TransactionAccumulator'

/** Most leaves of a tree: they are counted as JavaScript numbers, which are exact up to here. */
export const MAX_LEAVES = Number.MAX_SAFE_INTEGER

/**
 * The first `count` leaves of an append-only Merkle tree, as the roots of its full subtrees: there is one at each level
 * where `count` has its bit set. That is enough to append leaves, and to compute the root from the siblings to the
 * right.
 */
export class AccumulatorFrontier {
  readonly #hasher: LedgerHasher
  readonly #name: AccumulatorName
  /** The root of the full subtree at each level where the count has its bit set; at other levels, meaningless bytes. */
  readonly #levels: Uint8Array[] = []
  readonly #node = new Uint8Array(HASH_LENGTH)
  #count = 0

  constructor(hasher: LedgerHasher, name: AccumulatorName) {
    this.#hasher = hasher
    this.#name = name
  }

  /**
   * Makes the frontier of `count` leaves from its subtrees, which are the left siblings of leaf `count`, the lowest
   * first. Undefined if their number does not fit.
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
      if (rest % 2 === 0) continue
      const subtree = subtrees[used++]
      if (subtree?.length !== HASH_LENGTH) return undefined
      frontier.#setLevel(level, subtree)
    }
    return used === subtrees.length ? frontier : undefined
  }

  /** Makes a copy, to which leaves can be appended without changing this one. */
  clone(): AccumulatorFrontier {
    const copy = new AccumulatorFrontier(this.#hasher, this.#name)
    copy.#count = this.#count
    for (const [level, node] of this.#occupied()) copy.#setLevel(level, node)
    return copy
  }

  get count(): number {
    return this.#count
  }

  /** Copies of the roots of the full subtrees, the lowest first. */
  get subtrees(): Uint8Array[] {
    return Array.from(this.#occupied(), ([, node]) => copyBytes(node))
  }

  /** Appends the hash of the next leaf. */
  append(leaf: Uint8Array): void {
    let node = leaf
    let level = 0
    for (let rest = this.#count; rest % 2 === 1; rest = Math.floor(rest / 2)) {
      this.#hasher.hashPairInto(this.#name, this.#levels[level++]!, node, this.#node, 0)
      node = this.#node
    }
    this.#setLevel(level, node)
    this.#count++
  }

  /** Root of the tree that has only these leaves. */
  root(): Uint8Array {
    if (this.#count === 0) return ACCUMULATOR_PLACEHOLDER
    return this.#fold(levelsOf(this.#count), () => ACCUMULATOR_PLACEHOLDER)!
  }

  /**
   * Root of the tree of `total` leaves that begins with these, from the siblings to the right, the lowest first.
   * Undefined if their number does not fit, or if `total` is below the number of these leaves.
   */
  rootWithin(total: number, rightSiblings: readonly Uint8Array[]): Uint8Array | undefined {
    if (total < this.#count) return undefined
    let used = 0
    const root = this.#fold(levelsOf(total), () => rightSiblings[used++])
    return used === rightSiblings.length ? root : undefined
  }

  #fold(levels: number, nextRight: () => Uint8Array | undefined): Uint8Array | undefined {
    const node = new Uint8Array(HASH_LENGTH)
    let hasNode = false
    let rest = this.#count
    for (let level = 0; level < levels; level++, rest = Math.floor(rest / 2)) {
      const isRightChild = rest % 2 === 1
      if (!isRightChild && !hasNode) continue
      const subtree = isRightChild ? this.#levels[level]! : node
      const right = isRightChild && hasNode ? node : nextRight()
      if (!right) return undefined
      this.#hasher.hashPairInto(this.#name, subtree, right, node, 0)
      hasNode = true
    }
    const last = this.#levels[levels]
    return hasNode ? node : last && copyBytes(last)
  }

  #setLevel(level: number, node: Uint8Array): void {
    while (this.#levels.length <= level) this.#levels.push(new Uint8Array(HASH_LENGTH))
    this.#levels[level]!.set(node)
  }

  /** Iterates over the roots of the full subtrees with their levels, the lowest first. */
  *#occupied(): Generator<readonly [number, Uint8Array]> {
    for (let rest = this.#count, level = 0; rest > 0; rest = Math.floor(rest / 2), level++) {
      if (rest % 2 === 1) yield [level, this.#levels[level]!]
    }
  }

  /** Encodes the frontier: u64 count, then the roots of the full subtrees, the lowest first. */
  toBytes(): Uint8Array {
    const writer = new ByteWriter().u64(BigInt(this.#count))
    for (const subtree of this.subtrees) writer.bytes(subtree)
    return writer.toBytes()
  }

  /** Reads a frontier that `toBytes` encoded. Undefined if the bytes are something else. */
  static fromBytes(hasher: LedgerHasher, name: AccumulatorName, bytes: Uint8Array): AccumulatorFrontier | undefined {
    if (bytes.length < 8 || bytes.length % HASH_LENGTH !== 8) return undefined
    const reader = new ByteReader(bytes)
    const count = Number(reader.readU64())
    const subtrees: Uint8Array[] = []
    while (reader.remaining > 0) subtrees.push(reader.readBytes(HASH_LENGTH))
    return count <= MAX_LEAVES ? AccumulatorFrontier.fromSubtrees(hasher, name, count, subtrees) : undefined
  }
}
