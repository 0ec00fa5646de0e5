import type { LedgerHasher } from '../hashes/ledger-hasher.js'
import type { AccumulatorFrontier } from './accumulator.js'
import { levelsOf } from './levels-of.js'

type AccumulatorName = 'EventAccumulator' | 'TransactionAccumulator'

const NAME = 'TransactionAccumulator'

/** Known leaves of an accumulator around the leaf of the requested path. */
export interface PathSurroundings {
  /** Number of leaves of the whole tree. */
  readonly total: number
  /** The tree before the leaf. */
  readonly before: AccumulatorFrontier
  /** Hash of a leaf after the leaf of the requested path, up to `last`. */
  readonly leafAt: (index: number) => Uint8Array
  /** Index of the last leaf that `leafAt` knows. */
  readonly last: number
  /** The siblings to the right of the path of `last`, the lowest first. */
  readonly rightOfLast: readonly Uint8Array[]
  /**
   * Root of the subtree number `at` of a level, whose leaves are all known. By default it is computed from its leaves,
   * in a time that is linear in their number.
   */
  readonly subtreeAt?: (level: number, at: number) => Uint8Array
}

/**
 * The siblings on the path from a transaction's leaf to the root, the lowest first. Undefined if the siblings to the right
 * do not fit.
 */
export function accumulatorPath(
  hasher: LedgerHasher,
  { total, before, leafAt, last, rightOfLast, subtreeAt }: PathSurroundings,
): Uint8Array[] | undefined {
  const levels = levelsOf(total)
  const index = before.count
  const rightOf = new Map<number, Uint8Array>()
  let used = 0
  for (let level = 0, at = last; level < levels; level++, at = Math.floor(at / 2)) {
    if (at % 2 === 1) continue
    const sibling = rightOfLast[used++]
    if (!sibling) return undefined
    rightOf.set(level, sibling)
  }
  if (used !== rightOfLast.length) return undefined

  /** Computes a node that covers only leaves after the leaf of the path. */
  function nodeAt(level: number, at: number): Uint8Array {
    const first = at * 2 ** level
    if (first > last) return rightOf.get(level)!
    if (level === 0) return leafAt(at)
    if (subtreeAt && first + 2 ** level - 1 <= last) return subtreeAt(level, at)
    return hasher.hashPair(NAME, nodeAt(level - 1, 2 * at), nodeAt(level - 1, 2 * at + 1))
  }

  const left = before.subtrees
  let usedLeft = 0
  const siblings: Uint8Array[] = []
  for (let level = 0, at = index; level < levels; level++, at = Math.floor(at / 2)) {
    siblings.push(at % 2 === 1 ? left[usedLeft++]! : nodeAt(level, at + 1))
  }
  return siblings
}

/** Root of an accumulator, from a leaf, its index, and the siblings on its path, the lowest first. */
export function rootByPath(
  hasher: LedgerHasher,
  leaf: Uint8Array,
  index: bigint,
  siblings: readonly Uint8Array[],
  name: AccumulatorName = NAME,
): Uint8Array {
  let node = leaf
  for (const [level, sibling] of siblings.entries()) {
    const isRight = (index >> BigInt(level)) % 2n === 1n
    node = isRight ? hasher.hashPair(name, sibling, node) : hasher.hashPair(name, node, sibling)
  }
  return node
}
