import { compareBytes } from '@ledger-state/core/bytes'
import { type LedgerHasher, SPARSE_MERKLE_PLACEHOLDER } from '../hashes/ledger-hasher.js'
import { commonBits, isSet } from './key-bits.js'

/** Most siblings of a path: the bits of a key hash. */
export const MAX_STATE_SIBLINGS = 256

/** A leaf of a sparse Merkle tree. */
export interface StateLeaf {
  readonly keyHash: Uint8Array
  readonly valueHash: Uint8Array
}

/** The path of a key hash in a sparse Merkle tree of a state, from where it ends up to the root. */
export interface StatePath {
  /**
   * The leaf at the end of the path: the leaf of the key, or of another key; undefined if the path ends in an empty
   * subtree.
   */
  readonly leaf: StateLeaf | undefined
  /** The siblings on the path, the lowest first. */
  readonly siblings: readonly Uint8Array[]
}

/**
 * The result of a path for its key: the hash of the value, proof of absence, or nothing, because it is not the path of
 * the key.
 */
export type PathClaim =
  | { readonly kind: 'present'; readonly valueHash: Uint8Array }
  | { readonly kind: 'absent' | 'other' }

/** Returns the fact that a path proves about a key, if it leads to the right root. */
export function claimOfPath({ leaf, siblings }: StatePath, keyHash: Uint8Array): PathClaim {
  if (siblings.length > MAX_STATE_SIBLINGS) return { kind: 'other' }
  if (!leaf) return { kind: 'absent' }
  if (compareBytes(leaf.keyHash, keyHash) === 0) return { kind: 'present', valueHash: leaf.valueHash }
  // The leaf is the whole subtree below the last sibling. The key would be in this subtree.
  return { kind: commonBits(leaf.keyHash, keyHash) >= siblings.length ? 'absent' : 'other' }
}

/** Computes the root to which a path leads. */
export function rootOfStatePath(hasher: LedgerHasher, { leaf, siblings }: StatePath, keyHash: Uint8Array): Uint8Array {
  let node = leaf ? hasher.hashPair('SparseMerkleLeafNode', leaf.keyHash, leaf.valueHash) : SPARSE_MERKLE_PLACEHOLDER
  for (const [at, sibling] of siblings.entries()) {
    const isRight = isSet(keyHash, siblings.length - 1 - at)
    node = isRight
      ? hasher.hashPair('SparseMerkleInternal', sibling, node)
      : hasher.hashPair('SparseMerkleInternal', node, sibling)
  }
  return node
}
