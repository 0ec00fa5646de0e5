import { compareBytes } from '@ledger-state/core/bytes'
import { badMultiPath } from '../errors.js'
import { type LedgerHasher, SPARSE_MERKLE_PLACEHOLDER } from '../hashes/ledger-hasher.js'
import { commonBits, isSet } from './key-bits.js'
import { MAX_STATE_SIBLINGS, type StateLeaf, type StatePath } from './state-path.js'

/**
 * The paths of several key hashes in a sparse Merkle tree of a state, in one: the part of the tree above the places
 * where the paths end, in preorder. Each hash that the paths share occurs once.
 */
export interface MultiPath {
  /** Kinds of nodes, 2 bits each, the lowest bits of a byte first; unused bits are 0. See `NODE`. */
  readonly nodes: Uint8Array
  /** Hashes of the subtrees without a key of the paths. */
  readonly hashes: readonly Uint8Array[]
  /** Leaves of other keys at which paths end. */
  readonly leaves: readonly StateLeaf[]
}

/** A key of a multipath. */
export interface KeyClaim {
  readonly keyHash: Uint8Array
  /** Hash of the value; undefined if the key has none. */
  readonly valueHash: Uint8Array | undefined
}

/** Kinds of nodes. Both children of an inner node follow it. A leaf of a key of the paths has no entry in `leaves`. */
const NODE = { inner: 0, hash: 1, empty: 2, leaf: 3 } as const

const NODES_PER_BYTE = 4

/** Joins paths of one tree. @param keys key hashes in ascending order, with their paths */
export function joinPaths(keys: readonly { readonly keyHash: Uint8Array; readonly path: StatePath }[]): MultiPath {
  const kinds: number[] = []
  const hashes: Uint8Array[] = []
  const leaves: StateLeaf[] = []
  const addSibling = (hash: Uint8Array): void => {
    const isEmpty = compareBytes(hash, SPARSE_MERKLE_PLACEHOLDER) === 0
    kinds.push(isEmpty ? NODE.empty : NODE.hash)
    if (!isEmpty) hashes.push(hash)
  }
  const add = (from: number, to: number, depth: number): void => {
    const { siblings, leaf } = keys[from]!.path
    if (siblings.length > depth) {
      const middle = firstRight(keys, from, to, depth)
      kinds.push(NODE.inner)
      const sibling = siblings[siblings.length - 1 - depth]!
      if (middle > from) add(from, middle, depth + 1)
      else addSibling(sibling)
      if (middle < to) add(middle, to, depth + 1)
      else addSibling(sibling)
      return
    }
    kinds.push(leaf ? NODE.leaf : NODE.empty)
    const isOfKey = leaf && keys.slice(from, to).some(({ keyHash }) => compareBytes(keyHash, leaf.keyHash) === 0)
    if (leaf && !isOfKey) leaves.push(leaf)
  }
  if (keys.length > 0) add(0, keys.length, 0)
  return { nodes: packKinds(kinds), hashes, leaves }
}

/**
 * Computes the root to which a multipath leads if it proves the claims.
 * @param claims in ascending order of key hashes, at least one
 * @throws `verification_failed` if it says something else about a key, or has another form than `joinPaths` gives it
 */
export function rootOfMultiPath(hasher: LedgerHasher, path: MultiPath, claims: readonly KeyClaim[]): Uint8Array {
  if (claims.length === 0) throw badMultiPath('has no key')
  for (let at = 1; at < claims.length; at++) {
    if (compareBytes(claims[at - 1]!.keyHash, claims[at]!.keyHash) >= 0) throw badMultiPath('has keys out of order')
  }
  return new MultiPathReader(hasher, path, claims).root()
}

class MultiPathReader {
  readonly #hasher: LedgerHasher
  readonly #path: MultiPath
  readonly #claims: readonly KeyClaim[]
  #node = 0
  #hash = 0
  #leaf = 0

  constructor(hasher: LedgerHasher, path: MultiPath, claims: readonly KeyClaim[]) {
    this.#hasher = hasher
    this.#path = path
    this.#claims = claims
  }

  root(): Uint8Array {
    const root = this.#read(0, this.#claims.length, 0)
    const { nodes, hashes, leaves } = this.#path
    const isWhole = Math.ceil(this.#node / NODES_PER_BYTE) === nodes.length
    const unused = (nodes.at(-1) ?? 0) >> (2 * (this.#node % NODES_PER_BYTE || NODES_PER_BYTE))
    if (!isWhole || unused !== 0 || this.#hash !== hashes.length || this.#leaf !== leaves.length) {
      throw badMultiPath('has parts that belong to no key')
    }
    return root
  }

  /** The hash of the subtree at a depth with the claims of a range. */
  #read(from: number, to: number, depth: number): Uint8Array {
    switch (this.#nextKind()) {
      case NODE.inner:
        return this.#readInner(from, to, depth)
      case NODE.hash:
        return this.#readHash(from, to)
      case NODE.empty:
        for (let at = from; at < to; at++) this.#expectAbsent(at)
        return SPARSE_MERKLE_PLACEHOLDER
      default:
        return this.#readLeaf(from, to, depth)
    }
  }

  #readInner(from: number, to: number, depth: number): Uint8Array {
    if (from === to) throw badMultiPath('has an inner node above no key')
    if (depth === MAX_STATE_SIBLINGS) throw badMultiPath('is deeper than a key hash has bits')
    const middle = firstRight(this.#claims, from, to, depth)
    const left = this.#read(from, middle, depth + 1)
    const right = this.#read(middle, to, depth + 1)
    return this.#hasher.hashPair('SparseMerkleInternal', left, right)
  }

  #readHash(from: number, to: number): Uint8Array {
    const hash = this.#path.hashes[this.#hash++]
    if (hash === undefined) throw badMultiPath('is missing a hash')
    if (from < to) throw badMultiPath('ends above a key')
    if (compareBytes(hash, SPARSE_MERKLE_PLACEHOLDER) === 0) throw badMultiPath('has an empty subtree as a hash')
    return hash
  }

  /** A leaf of one of the claims, or else of another key. */
  #readLeaf(from: number, to: number, depth: number): Uint8Array {
    if (from === to) throw badMultiPath('has a leaf for no key')
    const present = this.#claims.slice(from, to).filter(({ valueHash }) => valueHash !== undefined)
    if (present.length > 1) throw badMultiPath('has one leaf for two keys')
    const { keyHash, valueHash } = present[0] ?? this.#otherLeaf(from, to, depth)
    return this.#hasher.hashPair('SparseMerkleLeafNode', keyHash, valueHash!)
  }

  #otherLeaf(from: number, to: number, depth: number): KeyClaim {
    const leaf = this.#path.leaves[this.#leaf++]
    if (leaf === undefined) throw badMultiPath('is missing a leaf')
    for (let at = from; at < to; at++) {
      const { keyHash } = this.#claims[at]!
      if (compareBytes(leaf.keyHash, keyHash) === 0) throw badMultiPath('has a value for a key that is claimed absent')
      if (commonBits(leaf.keyHash, keyHash) < depth) throw badMultiPath('has the leaf of a key that belongs elsewhere')
    }
    return leaf
  }

  #expectAbsent(at: number): void {
    if (this.#claims[at]!.valueHash) throw badMultiPath('ends in an empty subtree for a key that is claimed present')
  }

  #nextKind(): number {
    const byte = this.#path.nodes[Math.floor(this.#node / NODES_PER_BYTE)]
    if (byte === undefined) throw badMultiPath('is missing a node')
    return (byte >> (2 * (this.#node++ % NODES_PER_BYTE))) & 3
  }
}

/** First of the keys of a range that is on the right of an inner node at a depth; `to` if none is. */
function firstRight(
  keys: readonly { readonly keyHash: Uint8Array }[],
  from: number,
  to: number,
  depth: number,
): number {
  let at = from
  while (at < to && !isSet(keys[at]!.keyHash, depth)) at++
  return at
}

function packKinds(kinds: readonly number[]): Uint8Array {
  const nodes = new Uint8Array(Math.ceil(kinds.length / NODES_PER_BYTE))
  for (const [at, kind] of kinds.entries()) {
    nodes[Math.floor(at / NODES_PER_BYTE)]! |= kind << (2 * (at % NODES_PER_BYTE))
  }
  return nodes
}
