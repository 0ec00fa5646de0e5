import type { ByteReader, ByteWriter } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { HASH_LENGTH } from '../hashes/hash-bytes.js'
import { type LedgerHasher, SPARSE_MERKLE_PLACEHOLDER } from '../hashes/ledger-hasher.js'
import { commonBits, isSet } from './key-bits.js'

const KEY_BITS = HASH_LENGTH * 8

interface Leaf {
  readonly keyHash: Uint8Array
  readonly hash: Uint8Array
}

/**
 * The left part of a sparse Merkle tree over key hashes, most significant bit first: the newest leaf, and the subtrees
 * to the left of its path. Leaves are appended in ascending order. An inner node hashes its two children; a subtree of
 * one leaf is that leaf. See docs/ledger-formats.md, "Hashes and commitments".
 */
export class SparseMerkleFrontier {
  readonly #hasher: LedgerHasher
  /**
   * Roots of the left subtrees by depth, at the depths at which the path of the newest leaf turns right; empty subtrees
   * are absent.
   */
  #left: (Uint8Array | undefined)[] = []
  #newest: Leaf | undefined
  /** Number of bits that the newest leaf shares with the previous leaf; -1 for the first. */
  #shared = -1

  constructor(hasher: LedgerHasher) {
    this.#hasher = hasher
  }

  /** Appends a leaf and returns true. If the key is not above the newest, it appends nothing and returns false. */
  append(keyHash: Uint8Array, valueHash: Uint8Array): boolean {
    const newest = this.#newest
    if (newest) {
      if (compareBytes(newest.keyHash, keyHash) >= 0) return false
      const shared = commonBits(newest.keyHash, keyHash)
      this.#left[shared] = this.#foldNewest(newest, shared)
      this.#left.length = shared + 1
      this.#shared = shared
    }
    this.#newest = { keyHash, hash: this.#hasher.hashPair('SparseMerkleLeafNode', keyHash, valueHash) }
    return true
  }

  /** Root of the tree that has only these leaves. */
  root(): Uint8Array {
    const newest = this.#newest
    if (!newest) return SPARSE_MERKLE_PLACEHOLDER
    return this.#foldNewest(newest, -1)
  }

  /**
   * Root of the tree that begins with these leaves, from the siblings to the right of the newest, the lowest first.
   * Undefined if they cannot be its siblings.
   */
  rootWithin(rightSiblings: readonly Uint8Array[]): Uint8Array | undefined {
    const newest = this.#newest
    if (!newest) return undefined
    const depth = this.#depthOf(newest, rightSiblings.length)
    if (depth === undefined) return undefined
    let used = 0
    let node = newest.hash
    for (let level = depth - 1; level >= 0; level--) {
      node = isSet(newest.keyHash, level)
        ? this.#inner(this.#left[level] ?? SPARSE_MERKLE_PLACEHOLDER, node)
        : this.#inner(node, rightSiblings[used++]!)
    }
    return node
  }

  /**
   * Depth of the newest leaf in a tree in which its path has `rightCount` siblings to the right. The leaf lies just
   * below the last of these and the deepest sibling to the left that is not empty.
   */
  #depthOf({ keyHash }: Leaf, rightCount: number): number | undefined {
    let depth = 0
    let seen = 0
    while (depth < KEY_BITS && (seen < rightCount || depth <= this.#shared)) {
      if (!isSet(keyHash, depth++)) seen++
    }
    return seen === rightCount ? depth : undefined
  }

  /** Root of the subtree below the branch at depth `branch` that has the newest leaf. */
  #foldNewest({ keyHash, hash }: Leaf, branch: number): Uint8Array {
    let node = hash
    for (let level = Math.max(this.#shared, branch); level > branch; level--) {
      node = isSet(keyHash, level)
        ? this.#inner(this.#left[level] ?? SPARSE_MERKLE_PLACEHOLDER, node)
        : this.#inner(node, SPARSE_MERKLE_PLACEHOLDER)
    }
    return node
  }

  #inner(left: Uint8Array, right: Uint8Array): Uint8Array {
    return this.#hasher.hashPair('SparseMerkleInternal', left, right)
  }

  /**
   * Writes the frontier: an option of key hash, leaf hash and u16 shared bits + 1; then u16 depth and hash of each left
   * subtree.
   */
  write(writer: ByteWriter): void {
    const newest = this.#newest
    writer.bool(newest !== undefined)
    if (!newest) return
    writer
      .bytes(newest.keyHash)
      .bytes(newest.hash)
      .u16(this.#shared + 1)
    const depths = [...this.#left.keys()].filter((depth) => this.#left[depth] !== undefined)
    writer.u16(depths.length)
    for (const depth of depths) writer.u16(depth).bytes(this.#left[depth]!)
  }

  /** Reads a frontier that `write` wrote. @throws `invalid_bcs` */
  static read(hasher: LedgerHasher, reader: ByteReader): SparseMerkleFrontier {
    const frontier = new SparseMerkleFrontier(hasher)
    if (!reader.readBool()) return frontier
    const readHash = () => Uint8Array.from(reader.readBytes(HASH_LENGTH))
    frontier.#newest = { keyHash: readHash(), hash: readHash() }
    frontier.#shared = reader.readU16() - 1
    for (let rest = reader.readU16(); rest > 0; rest--) {
      const depth = reader.readU16()
      if (depth >= KEY_BITS) throw reader.fault(`depth ${depth} in a tree of ${KEY_BITS}`)
      frontier.#left[depth] = readHash()
    }
    return frontier
  }
}
