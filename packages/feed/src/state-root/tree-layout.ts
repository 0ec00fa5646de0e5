import { HASH_LENGTH } from '@ledger-state/proof'
import { LEAF_LENGTH } from './fold-leaves.js'
import { PART_DEPTH } from './leaf-store.js'

// The tree of a state as a file. It can be removed at any time, and built again.
//
// header: 8 magic | u64 version | u32 leaves | u32 depth | u32 length of the description | u32 zero | 32 root of the
// state then the description, salt and checkpoint; the nodes of the levels 0 to `depth`, one level after the other, 32
// bytes each; for each node of the level `depth`, and once behind the last, the number of leaves before it, u32; all
// leaves in the order of their key hashes. Numbers are little-endian. Levels below `depth` are computed from about 16
// to 32 leaves when a path is read.

export const TREE_MAGIC: Uint8Array = new TextEncoder().encode('LSTREE\0\x01')
export const HEADER_LENGTH: number = 8 + 8 + 4 * 4 + HASH_LENGTH
/** Most leaves, on average, below a node of the lowest kept level. */
const MOST_LEAVES = 32
/** Most keys of a tree. Leaves, and the nodes of a level, are counted in 32 bits. */
export const MAX_TREE_KEYS: number = 2 ** 32 - 1

/** Offsets of the parts of a tree in its file. */
export interface TreeLayout {
  readonly depth: number
  /** Bytes of the whole file. */
  readonly length: number
  nodeAt(level: number, index: number): number
  startAt(index: number): number
  leafAt(index: number): number
}

/** The lowest level that is kept for a tree with this number of leaves. */
export function depthOf(keys: number): number {
  let depth = PART_DEPTH
  while (keys / 2 ** depth > MOST_LEAVES) depth++
  return depth
}

/**
 * Computes the offsets of the parts of a tree in its file.
 * @param descriptionLength bytes of the salt and the checkpoint
 */
export function treeLayoutOf(keys: number, depth: number, descriptionLength: number): TreeLayout {
  const nodesAt = HEADER_LENGTH + descriptionLength
  const startsAt = nodesAt + (2 ** (depth + 1) - 1) * HASH_LENGTH
  const leavesAt = startsAt + (2 ** depth + 1) * 4
  return {
    depth,
    length: leavesAt + keys * LEAF_LENGTH,
    nodeAt: (level, index) => nodesAt + (2 ** level - 1 + index) * HASH_LENGTH,
    startAt: (index) => startsAt + index * 4,
    leafAt: (index) => leavesAt + index * LEAF_LENGTH,
  }
}
