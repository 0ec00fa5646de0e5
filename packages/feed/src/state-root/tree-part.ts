import type { LedgerHasher } from '@ledger-state/proof'
import { HASH_LENGTH } from '@ledger-state/proof'
import { foldLeaves, LEAF_LENGTH, type Subtree } from './fold-leaves.js'

/** Kept data of a part of a tree: its leaves, and its nodes between two depths. */
export interface TreePart {
  readonly subtree: Subtree
  /** All leaves, in the order of their keys. */
  readonly leaves: Uint8Array<ArrayBuffer>
  /**
   * The nodes of the levels from `depth` to `bottom`, one level after the other; zeros below a subtree with one leaf or
   * none.
   */
  readonly nodes: Uint8Array<ArrayBuffer>
  /** The number of leaves below each node of the level `bottom`. */
  readonly counts: Uint32Array<ArrayBuffer>
}

/**
 * Folds the leaves of a part as `foldLeaves` does, and keeps the leaves and nodes that paths need.
 * @param depth the depth at which the part begins, in bits of the key hash; `bottom` is the depth of its lowest kept
 * nodes
 */
export function foldTreePart(hasher: LedgerHasher, given: Uint8Array, depth: number, bottom: number): TreePart {
  const levels = bottom - depth
  const leaves = new Uint8Array(given.length)
  const nodes = new Uint8Array((2 ** (levels + 1) - 1) * HASH_LENGTH)
  const counts = new Uint32Array(2 ** levels)
  let length = 0
  const subtree = foldLeaves(hasher, given, depth, {
    onLeaf(leaf) {
      leaves.set(leaf, length)
      length += LEAF_LENGTH
      counts[keyHashBits(leaf, depth, bottom)]!++
    },
    onNode(level, index, hash) {
      if (level <= bottom) nodes.set(hash, (2 ** (level - depth) - 1 + index) * HASH_LENGTH)
    },
  })
  return { subtree, leaves, nodes, counts }
}

/**
 * The bits of a key hash from one depth to another, as a number.
 * @param end at most 32
 */
export function keyHashBits(keyHash: Uint8Array, start: number, end: number): number {
  const first = new DataView(keyHash.buffer, keyHash.byteOffset).getUint32(0)
  return end === start ? 0 : ((first << start) >>> 0) >>> (32 - (end - start))
}
