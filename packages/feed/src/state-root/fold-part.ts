import { HASH_LENGTH, type PartTree, SUBTREE_EMPTY, SUBTREE_LEAF } from '@ledger-state/proof'
import { verificationFailed } from '../errors.js'
import { LEAF_LENGTH, type Subtree } from './fold-leaves.js'

/**
 * Folds leaves into the subtree at a depth, as `foldLeaves` does, without the nodes: in a quarter of the time, because it
 * hashes two nodes at once.
 * @param tree a tree whose memory is used
 * @throws `verification_failed` if two leaves have one key
 */
export function foldPart(tree: PartTree, leaves: Uint8Array, depth: number): Subtree {
  tree.clear(depth)
  for (let at = 0; at < leaves.length; at += LEAF_LENGTH) {
    const keyHash = leaves.subarray(at, at + HASH_LENGTH)
    if (!tree.put(keyHash, leaves.subarray(at + HASH_LENGTH, at + LEAF_LENGTH))) {
      throw verificationFailed.duplicateStateKey(keyHash)
    }
  }
  tree.finish()
  return toSubtree(tree)
}

/** The part as a subtree. */
function toSubtree(tree: PartTree): Subtree {
  if (tree.kind === SUBTREE_EMPTY) return { kind: 'empty' }
  return { kind: tree.kind === SUBTREE_LEAF ? 'leaf' : 'inner', hash: Uint8Array.from(tree.root) }
}
