import type { HashArena } from '../hashes/hash-arena.js'
import { HASH_LENGTH } from '../hashes/hash-bytes.js'
import { type LedgerHasher, SPARSE_MERKLE_PLACEHOLDER } from '../hashes/ledger-hasher.js'
import { JOB_LENGTH } from '../hashes/wasm/keccak-module.js'
import { SUBTREE_EMPTY, SUBTREE_INNER } from './part-tree.js'

/** The sparse Merkle tree above parts: from the roots of all subtrees at a depth to the root of the state. */
export class TopTree {
  readonly #depth: number
  readonly #arena: HashArena
  readonly #seedAt: number
  readonly #spareAt: number
  readonly #jobsAt: number
  readonly #nodesAt: number
  /** Kinds of all nodes: the root is node 1, and the children of a node are 2 n and 2 n + 1. */
  readonly #kinds: Uint8Array
  readonly #marks: Uint32Array
  #change = 0
  #changed: number[] = []

  /** @param depth depth of the parts; there are 2^depth, all empty at first */
  constructor(hasher: LedgerHasher, depth: number) {
    const nodes = 2 ** (depth + 1)
    this.#depth = depth
    // A level has an odd number of jobs at most once, so each level adds one at most.
    const jobsLength = JOB_LENGTH * (nodes + depth + 2)
    this.#arena = hasher.createArena(2 * HASH_LENGTH + jobsLength + HASH_LENGTH * nodes)
    this.#seedAt = this.#arena.start
    this.#spareAt = this.#seedAt + HASH_LENGTH
    this.#jobsAt = this.#spareAt + HASH_LENGTH
    this.#nodesAt = this.#jobsAt + jobsLength
    this.#kinds = new Uint8Array(nodes).fill(SUBTREE_EMPTY)
    this.#marks = new Uint32Array(nodes)
    this.#arena.bytes.set(hasher.seed('SparseMerkleInternal'), this.#seedAt)
    for (let node = 1; node < nodes; node++) this.#arena.bytes.set(SPARSE_MERKLE_PLACEHOLDER, this.#addressOf(node))
  }

  /** Sets the root of a part. */
  set(part: number, kind: number, root: Uint8Array): void {
    const node = 2 ** this.#depth + part
    this.#kinds[node] = kind
    this.#arena.bytes.set(root, this.#addressOf(node))
    this.#changed.push(node)
  }

  /** The root of the state: a view, valid until the next call. */
  root(): Uint8Array {
    const { bytes, words } = this.#arena
    const kinds = this.#kinds
    this.#change++
    let count = 0
    let level = this.#changed
    this.#changed = []
    for (let depth = this.#depth; depth > 0; depth--) {
      const above: number[] = []
      for (const node of level) {
        const parent = node >> 1
        if (this.#marks[parent] === this.#change) continue
        this.#marks[parent] = this.#change
        above.push(parent)
        const [left, right] = [kinds[2 * parent]!, kinds[2 * parent + 1]!]
        const isJoined =
          (left !== SUBTREE_EMPTY && right !== SUBTREE_EMPTY) || left === SUBTREE_INNER || right === SUBTREE_INNER
        if (isJoined) {
          kinds[parent] = SUBTREE_INNER
          const job = (this.#jobsAt >>> 2) + 3 * count++
          words[job] = this.#addressOf(2 * parent)
          words[job + 1] = this.#addressOf(2 * parent + 1)
          words[job + 2] = this.#addressOf(parent)
        } else {
          const child = left === SUBTREE_EMPTY ? 2 * parent + 1 : 2 * parent
          kinds[parent] = kinds[child]!
          // Neither an empty subtree nor a single leaf is hashed here, so the child has its hash.
          const from = this.#addressOf(child)
          bytes.copyWithin(this.#addressOf(parent), from, from + HASH_LENGTH)
        }
      }
      if (count % 2 === 1) {
        const job = (this.#jobsAt >>> 2) + 3 * count++
        words[job] = this.#spareAt
        words[job + 1] = this.#spareAt
        words[job + 2] = this.#spareAt
      }
      level = above
    }
    this.#arena.hashPairs(this.#jobsAt, count, this.#seedAt)
    const at = this.#addressOf(1)
    return bytes.subarray(at, at + HASH_LENGTH)
  }

  /** Kind of a node, whose index counts from the left edge of its level. Valid after `root`. */
  kindAt(level: number, index: number): number {
    return this.#kinds[2 ** level + index]!
  }

  /** Hash of a node: a view, valid until the next change. */
  hashAt(level: number, index: number): Uint8Array {
    const at = this.#addressOf(2 ** level + index)
    return this.#arena.bytes.subarray(at, at + HASH_LENGTH)
  }

  #addressOf(node: number): number {
    return this.#nodesAt + HASH_LENGTH * node
  }
}
