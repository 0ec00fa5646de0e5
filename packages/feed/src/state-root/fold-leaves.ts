import { HASH_LENGTH, type LedgerHasher, SPARSE_MERKLE_PLACEHOLDER } from '@ledger-state/proof'
import { verificationFailed } from '../errors.js'
import { viewAsBuffer } from '../view-as-buffer.js'

/** Bytes of a leaf: the hash of its key, then the hash of its value. */
export const LEAF_LENGTH = 2 * HASH_LENGTH
const KEY_BITS = 8 * HASH_LENGTH

/** A subtree of a sparse Merkle tree. A subtree with a single leaf is that leaf, at any depth. */
export type Subtree =
  | { readonly kind: 'empty' }
  | { readonly kind: 'leaf'; readonly hash: Uint8Array }
  | { readonly kind: 'inner'; readonly hash: Uint8Array }

const EMPTY: Subtree = { kind: 'empty' }

/** Called with the leaves and nodes of a fold, from left to right. */
export interface FoldObserver {
  /** Called with a leaf of `LEAF_LENGTH` bytes, which are overwritten afterwards. */
  onLeaf(leaf: Uint8Array): void
  /**
   * Called with a node: the root of a subtree that is empty or has one or more leaves. The index counts from the left
   * edge of the fold.
   */
  onNode(depth: number, index: number, hash: Uint8Array): void
}

/**
 * Folds leaves into the subtree at a depth. Their keys must agree up to that depth. They come in any order, in
 * `LEAF_LENGTH` bytes each, which are overwritten.
 * @throws `verification_failed` if two leaves have one key
 */
export function foldLeaves(hasher: LedgerHasher, leaves: Uint8Array, depth: number, observer?: FoldObserver): Subtree {
  const bytes = viewAsBuffer(leaves)
  const offsets = new Uint32Array(leaves.length / LEAF_LENGTH)
  for (let at = 0; at < offsets.length; at++) offsets[at] = at * LEAF_LENGTH
  const hashOf = (at: number) => bytes.subarray(offsets[at]! + HASH_LENGTH, offsets[at]! + LEAF_LENGTH)

  /**
   * Moves the leaves from `first` to `end` with bit 0 before the others. Returns the index of the first of the others.
   */
  function divide(first: number, end: number, bit: number): number {
    const [byte, mask] = [bit >> 3, 0x80 >> (bit & 7)]
    let [low, high] = [first, end]
    while (low < high) {
      const offset = offsets[low]!
      if ((bytes[offset + byte]! & mask) === 0) low++
      else {
        offsets[low] = offsets[--high]!
        offsets[high] = offset
      }
    }
    return low
  }

  function fold(first: number, end: number, bit: number, index: number): Subtree {
    const subtree = foldBelow(first, end, bit, index)
    observer?.onNode(bit, index, subtreeRoot(subtree))
    return subtree
  }

  function foldBelow(first: number, end: number, bit: number, index: number): Subtree {
    if (first === end) return EMPTY
    const offset = offsets[first]!
    if (end - first === 1) {
      const leaf = bytes.subarray(offset, offset + LEAF_LENGTH)
      observer?.onLeaf(leaf)
      hasher.hashInto('SparseMerkleLeafNode', leaf, bytes, offset + HASH_LENGTH)
      return { kind: 'leaf', hash: hashOf(first) }
    }
    if (bit === KEY_BITS) throw verificationFailed.duplicateStateKey(bytes.subarray(offset, offset + HASH_LENGTH))
    const middle = divide(first, end, bit)
    const left = subtreeRoot(fold(first, middle, bit + 1, 2 * index))
    const right = subtreeRoot(fold(middle, end, bit + 1, 2 * index + 1))
    // The leaves below are not needed again, so the node overwrites the first of them.
    hasher.hashPairInto('SparseMerkleInternal', left, right, bytes, offsets[first]! + HASH_LENGTH)
    return { kind: 'inner', hash: hashOf(first) }
  }

  const subtree = fold(0, offsets.length, depth, 0)
  // A copy: a view that is sent to another thread would take the buffer with all leaves along.
  return subtree.kind === 'empty' ? subtree : { kind: subtree.kind, hash: Uint8Array.from(subtree.hash) }
}

/** The subtree with these left and right children. */
function joinSubtrees(hasher: LedgerHasher, left: Subtree, right: Subtree): Subtree {
  if (left.kind === 'empty' && right.kind !== 'inner') return right
  if (right.kind === 'empty' && left.kind === 'leaf') return left
  return { kind: 'inner', hash: hasher.hashPair('SparseMerkleInternal', subtreeRoot(left), subtreeRoot(right)) }
}

/**
 * Joins all subtrees of a level into a tree.
 * @param level the subtrees; their number is a power of 2
 * @param onNode called with each node above, the number of levels that it is above them, and its index
 */
export function joinAll(
  hasher: LedgerHasher,
  level: readonly Subtree[],
  onNode?: (above: number, index: number, hash: Uint8Array) => void,
): Subtree {
  let nodes = level
  for (let above = 1; nodes.length > 1; above++) {
    const below = nodes
    nodes = Array.from({ length: below.length / 2 }, (_, at) => {
      const node = joinSubtrees(hasher, below[2 * at]!, below[2 * at + 1]!)
      onNode?.(above, at, subtreeRoot(node))
      return node
    })
  }
  return nodes[0]!
}

/** Root hash of a subtree. */
export function subtreeRoot(subtree: Subtree): Uint8Array {
  return subtree.kind === 'empty' ? SPARSE_MERKLE_PLACEHOLDER : subtree.hash
}
