import type { HashArena } from '../hashes/hash-arena.js'
import { HASH_LENGTH } from '../hashes/hash-bytes.js'
import { type LedgerHasher, SPARSE_MERKLE_PLACEHOLDER } from '../hashes/ledger-hasher.js'
import { JOB_LENGTH } from '../hashes/wasm/keccak-module.js'

const KEY_BITS = 8 * HASH_LENGTH
/** Bytes of a leaf between `save` and `load`: the hash of its key, then the hash of the leaf. */
export const SAVED_LEAF_LENGTH = 2 * HASH_LENGTH
const HASH_WORDS = HASH_LENGTH / 4
const SAVED_LEAF_WORDS = SAVED_LEAF_LENGTH / 4
/** Marks a reference to a leaf; others are to inner nodes, and 0 is an empty subtree. */
const LEAF = 0x8000_0000
const LEAF_INDEX = 0x7fff_ffff
/** Writes that are hashed together, and jobs of inner nodes in a call. */
const WRITES_AT_ONCE = 2 ** 12
const JOBS_AT_ONCE = 2 ** 14
const FIRST_LEAVES = 2 ** 10

/** Kind of a subtree without a leaf. */
export const SUBTREE_EMPTY = 0
/** A subtree with a single leaf. */
export const SUBTREE_LEAF = 1
/** A subtree with several leaves. */
export const SUBTREE_INNER = 2

/** The path of a key hash within a part. */
export interface PartPath {
  /** The siblings below the root of the part, the highest first. */
  readonly siblings: readonly Uint8Array[]
  /** Hash of the key of the leaf at its end; undefined if the path ends in an empty subtree. */
  readonly leaf: Uint8Array | undefined
}

/**
 * The part of the sparse Merkle tree of a state with all keys whose hashes agree up to a depth, in memory. It is
 * changed block by block: `put` and `remove` change leaves, and `finish` computes the hashes above them. Takes about
 * 130 bytes a key.
 */
export class PartTree {
  readonly #hasher: LedgerHasher
  #depth: number
  #arena!: HashArena
  // Regions of the arena, as addresses. Fields of inner nodes are u32.
  #emptyAt = 0
  #innerSeedAt = 0
  #leafSeedAt = 0
  #spareAt = 0
  #jobsAt = 0
  /** Key hash and value hash of the writes that are not hashed yet. */
  #writesAt = 0
  #keysAt = 0
  #leafHashesAt = 0
  #innerHashesAt = 0
  #lefts = 0
  #rights = 0
  /** For each inner node, the number of the last change that marked it. */
  #marks = 0
  #leafCapacity: number
  #innerCapacity: number

  #root = 0
  #leafCount = 0
  #nextLeaf = 0
  #nextInner = 1
  readonly #freeLeaves: number[] = []
  readonly #freeInner: number[] = []
  /** Leaves and nodes that the change under way removed. Their places are free once it is hashed. */
  readonly #removedLeaves: number[] = []
  readonly #removedInner: number[] = []
  #change = 0
  /** Inner nodes to hash, by depth, and the deepest depth with one. */
  readonly #marked: number[][] = Array.from({ length: KEY_BITS + 1 }, () => [])
  #deepest = 0
  /** The leaf of each write that waits. */
  readonly #leavesOfWrites = new Uint32Array(WRITES_AT_ONCE)
  #writeCount = 0
  readonly #path = new Uint32Array(KEY_BITS + 1)

  /**
   * @param depth bits of the key hashes that all keys share
   * @param leaves number of leaves for which memory is made at once
   */
  constructor(hasher: LedgerHasher, depth: number, leaves: number = FIRST_LEAVES) {
    this.#hasher = hasher
    this.#depth = depth
    this.#leafCapacity = Math.max(leaves, FIRST_LEAVES)
    this.#innerCapacity = Math.ceil(this.#leafCapacity * 1.5) + 512
    this.#layOut()
  }

  /** Removes all leaves, so that another part can be built in the same memory. */
  clear(depth: number): void {
    this.finish()
    this.#depth = depth
    this.#root = 0
    this.#leafCount = 0
    this.#nextLeaf = 0
    this.#nextInner = 1
    this.#freeLeaves.length = 0
    this.#freeInner.length = 0
  }

  /** Number of leaves. */
  get leafCount(): number {
    return this.#leafCount
  }

  /** Kind of the whole part. */
  get kind(): number {
    return this.#root === 0 ? SUBTREE_EMPTY : this.#root >= LEAF ? SUBTREE_LEAF : SUBTREE_INNER
  }

  /** Root of the part: a view, valid until the next change. */
  get root(): Uint8Array {
    const at = this.#addressOf(this.#root)
    return this.#arena.bytes.subarray(at, at + HASH_LENGTH)
  }

  /** Kind of the subtree at a depth, which counts from the left edge of the part. No change may be under way. */
  kindAt(depth: number, index: number): number {
    const node = this.#subtreeAt(depth, index)
    return node === 0 ? SUBTREE_EMPTY : node >= LEAF ? SUBTREE_LEAF : SUBTREE_INNER
  }

  /** Its root: a view, valid until the next change. */
  hashAt(depth: number, index: number): Uint8Array {
    const at = this.#addressOf(this.#subtreeAt(depth, index))
    return this.#arena.bytes.subarray(at, at + HASH_LENGTH)
  }

  /** Sets the value of a key by the hashes of both. Returns whether the key is new. */
  put(keyHash: Uint8Array, valueHash: Uint8Array): boolean {
    const before = this.#leafCount
    if (this.#writeCount === WRITES_AT_ONCE) this.finish()
    const at = this.#writesAt + 2 * HASH_LENGTH * this.#writeCount
    this.#arena.bytes.set(keyHash, at)
    this.#arena.bytes.set(valueHash, at + HASH_LENGTH)
    this.#leavesOfWrites[this.#writeCount++] = this.#leafOfKey(at)
    return this.#leafCount > before
  }

  /** Removes a key. Returns whether it was there. */
  remove(keyHash: Uint8Array): boolean {
    const { bytes, words } = this.#arena
    const path = this.#path
    let depth = this.#depth
    let node = this.#root
    while (node !== 0 && node < LEAF) {
      path[depth] = node
      node = words[(bitOf(keyHash, 0, depth) ? this.#rights : this.#lefts) + node]!
      depth++
    }
    if (node === 0) return false
    const leaf = node & LEAF_INDEX
    const keyAt = this.#keysAt + HASH_LENGTH * leaf
    for (let byte = 0; byte < HASH_LENGTH; byte++) if (bytes[keyAt + byte] !== keyHash[byte]) return false
    for (let at = this.#depth; at < depth; at++) this.#mark(path[at]!, at)
    this.#removedLeaves.push(leaf)
    this.#leafCount--
    this.#lift(keyHash, depth - 1)
    return true
  }

  /** Computes the hashes of all changes. */
  finish(): void {
    this.#hashLeaves()
    this.#hashInner()
    this.#freeLeaves.push(...this.#removedLeaves.splice(0))
    this.#freeInner.push(...this.#removedInner.splice(0))
    this.#change++
  }

  /** The path of a key hash within the part. No change may be under way. */
  pathOf(keyHash: Uint8Array): PartPath {
    const { bytes, words } = this.#arena
    const hashAt = (at: number) => Uint8Array.from(bytes.subarray(at, at + HASH_LENGTH))
    const siblings: Uint8Array[] = []
    let node = this.#root
    for (let depth = this.#depth; node !== 0 && node < LEAF; depth++) {
      const isRight = bitOf(keyHash, 0, depth)
      siblings.push(hashAt(this.#addressOf(words[(isRight ? this.#lefts : this.#rights) + node]!)))
      node = words[(isRight ? this.#rights : this.#lefts) + node]!
    }
    const leaf = node === 0 ? undefined : hashAt(this.#keysAt + HASH_LENGTH * (node & LEAF_INDEX))
    return { siblings, leaf }
  }

  /** All leaves in the order of their key hashes, `SAVED_LEAF_LENGTH` bytes each. */
  save(): Uint8Array<ArrayBuffer> {
    const { words } = this.#arena
    // Words, because a view of a hash costs more than its copy.
    const saved = new Uint32Array(this.#leafCount * SAVED_LEAF_WORDS)
    let at = 0
    const open = [this.#root]
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (node === 0) continue
      if (node < LEAF) {
        open.push(words[this.#rights + node]!, words[this.#lefts + node]!)
        continue
      }
      const keyAt = (this.#keysAt + HASH_LENGTH * (node & LEAF_INDEX)) >>> 2
      const hashAt = this.#addressOf(node) >>> 2
      for (let word = 0; word < HASH_WORDS; word++) {
        saved[at + word] = words[keyAt + word]!
        saved[at + HASH_WORDS + word] = words[hashAt + word]!
      }
      at += SAVED_LEAF_WORDS
    }
    return new Uint8Array(saved.buffer)
  }

  /**
   * Adds leaves that `save` returned to a tree without changes under way.
   * @returns false if a key comes twice
   */
  load(saved: Uint8Array): boolean {
    const keyAt = this.#writesAt
    for (let at = 0; at < saved.length; at += SAVED_LEAF_LENGTH) {
      const before = this.#leafCount
      this.#arena.bytes.set(saved.subarray(at, at + HASH_LENGTH), keyAt)
      const leaf = this.#leafOfKey(keyAt)
      if (this.#leafCount === before) return false
      this.#arena.bytes.set(
        saved.subarray(at + HASH_LENGTH, at + SAVED_LEAF_LENGTH),
        this.#leafHashesAt + HASH_LENGTH * leaf,
      )
    }
    this.finish()
    return true
  }

  #subtreeAt(depth: number, index: number): number {
    const { bytes, words } = this.#arena
    const isRight = (level: number) => ((index >>> (depth - 1 - level)) & 1) === 1
    let node = this.#root
    let level = this.#depth
    for (; level < depth && node !== 0 && node < LEAF; level++) {
      node = words[(isRight(level) ? this.#rights : this.#lefts) + node]!
    }
    // A single leaf is above the depth, in the subtree of its key.
    const keyAt = this.#keysAt + HASH_LENGTH * (node & LEAF_INDEX)
    for (; level < depth && node !== 0; level++) if (bitOf(bytes, keyAt, level) !== isRight(level)) return 0
    return node
  }

  /** Finds or makes the leaf of the key hash at an address, and marks the nodes above it. */
  #leafOfKey(keyAt: number): number {
    let { bytes, words } = this.#arena
    let depth = this.#depth
    let node = this.#root
    let parent = 0
    let isRight = false
    while (node !== 0 && node < LEAF) {
      this.#mark(node, depth)
      isRight = bitOf(bytes, keyAt, depth)
      parent = node
      node = words[(isRight ? this.#rights : this.#lefts) + node]!
      depth++
    }
    if (node !== 0) {
      const other = this.#keysAt + HASH_LENGTH * (node & LEAF_INDEX)
      let byte = this.#depth >> 3
      while (byte < HASH_LENGTH && bytes[keyAt + byte] === bytes[other + byte]) byte++
      if (byte === HASH_LENGTH) return node & LEAF_INDEX
      const fork = 8 * byte + Math.clz32(bytes[keyAt + byte]! ^ bytes[other + byte]!) - 24
      const otherLeaf = node
      const isOtherRight = bitOf(bytes, other, fork)
      // Both paths agree down to the fork, so each node between has one child.
      for (; depth <= fork; depth++) {
        const inner = this.#newInner()
        ;({ bytes, words } = this.#arena)
        this.#link(parent, isRight, inner)
        this.#mark(inner, depth)
        parent = inner
        isRight = bitOf(bytes, keyAt, depth)
      }
      this.#link(parent, isOtherRight, otherLeaf)
    }
    const leaf = this.#newLeaf()
    ;({ bytes, words } = this.#arena)
    bytes.copyWithin(this.#keysAt + HASH_LENGTH * leaf, keyAt, keyAt + HASH_LENGTH)
    this.#link(parent, isRight, (LEAF | leaf) >>> 0)
    return leaf
  }

  /** Takes the removed child off the deepest node of a path. A leaf without siblings takes the place of its parent. */
  #lift(keyHash: Uint8Array, deepest: number): void {
    const { words } = this.#arena
    let left = 0
    for (let depth = deepest; depth >= this.#depth; depth--) {
      const node = this.#path[depth]!
      const isRight = bitOf(keyHash, 0, depth)
      const other = words[(isRight ? this.#lefts : this.#rights) + node]!
      if (left === 0 && other >= LEAF) left = other
      else if (other !== 0) {
        words[(isRight ? this.#rights : this.#lefts) + node] = left
        return
      }
      this.#removedInner.push(node)
    }
    this.#root = left
  }

  #mark(node: number, depth: number): void {
    const { words } = this.#arena
    if (words[this.#marks + node] === this.#change) return
    words[this.#marks + node] = this.#change
    this.#marked[depth]!.push(node)
    if (depth > this.#deepest) this.#deepest = depth
  }

  #link(parent: number, isRight: boolean, child: number): void {
    if (parent === 0) this.#root = child
    else this.#arena.words[(isRight ? this.#rights : this.#lefts) + parent] = child
  }

  #newLeaf(): number {
    if (this.#freeLeaves.length === 0 && this.#nextLeaf === this.#leafCapacity) {
      this.#grow(2 * this.#leafCapacity, this.#innerCapacity)
    }
    this.#leafCount++
    return this.#freeLeaves.pop() ?? this.#nextLeaf++
  }

  #newInner(): number {
    if (this.#freeInner.length === 0 && this.#nextInner === this.#innerCapacity) {
      this.#grow(this.#leafCapacity, 2 * this.#innerCapacity)
    }
    const inner = this.#freeInner.pop() ?? this.#nextInner++
    const { words } = this.#arena
    words[this.#lefts + inner] = 0
    words[this.#rights + inner] = 0
    words[this.#marks + inner] = NEVER
    return inner
  }

  #hashLeaves(): void {
    const { words } = this.#arena
    const jobs = this.#jobsAt >>> 2
    for (let write = 0; write < this.#writeCount; write++) {
      const at = this.#writesAt + 2 * HASH_LENGTH * write
      words[jobs + 3 * write] = at
      words[jobs + 3 * write + 1] = at + HASH_LENGTH
      words[jobs + 3 * write + 2] = this.#leafHashesAt + HASH_LENGTH * this.#leavesOfWrites[write]!
    }
    this.#arena.hashPairs(this.#jobsAt, this.#writeCount, this.#leafSeedAt)
    this.#writeCount = 0
  }

  /** Hashes the marked nodes, the deepest first. */
  #hashInner(): void {
    const { words } = this.#arena
    const jobs = this.#jobsAt >>> 2
    let count = 0
    for (let depth = this.#deepest; depth >= this.#depth; depth--) {
      const nodes = this.#marked[depth]!
      for (const node of nodes) {
        if (count === JOBS_AT_ONCE) {
          this.#arena.hashPairs(this.#jobsAt, count, this.#innerSeedAt)
          count = 0
        }
        words[jobs + 3 * count] = this.#addressOf(words[this.#lefts + node]!)
        words[jobs + 3 * count + 1] = this.#addressOf(words[this.#rights + node]!)
        words[jobs + 3 * count + 2] = this.#innerHashesAt + HASH_LENGTH * node
        count++
      }
      nodes.length = 0
      if (count % 2 === 1) {
        // A job without use: the next depth must not be in a pair with this one.
        words[jobs + 3 * count] = this.#emptyAt
        words[jobs + 3 * count + 1] = this.#emptyAt
        words[jobs + 3 * count + 2] = this.#spareAt
        count++
      }
    }
    this.#arena.hashPairs(this.#jobsAt, count, this.#innerSeedAt)
    this.#deepest = 0
  }

  #addressOf(node: number): number {
    if (node === 0) return this.#emptyAt
    return node >= LEAF
      ? this.#leafHashesAt + HASH_LENGTH * (node & LEAF_INDEX)
      : this.#innerHashesAt + HASH_LENGTH * node
  }

  /** Makes an arena with all regions. */
  #layOut(): void {
    const regions = [
      ...[HASH_LENGTH, HASH_LENGTH, HASH_LENGTH, HASH_LENGTH],
      ...[JOB_LENGTH * JOBS_AT_ONCE, WRITES_AT_ONCE * 2 * HASH_LENGTH],
      ...[this.#leafCapacity * HASH_LENGTH, this.#leafCapacity * HASH_LENGTH, this.#innerCapacity * HASH_LENGTH],
      ...[this.#innerCapacity * 4, this.#innerCapacity * 4, this.#innerCapacity * 4],
    ].map((length) => Math.ceil(length / HASH_LENGTH) * HASH_LENGTH)
    const arena = this.#hasher.createArena(regions.reduce((sum, length) => sum + length, 0))
    let next = arena.start
    const take = () => {
      const at = next
      next += regions.shift()!
      return at
    }
    this.#emptyAt = take()
    this.#innerSeedAt = take()
    this.#leafSeedAt = take()
    this.#spareAt = take()
    this.#jobsAt = take()
    this.#writesAt = take()
    this.#keysAt = take()
    this.#leafHashesAt = take()
    this.#innerHashesAt = take()
    this.#lefts = take() / 4
    this.#rights = take() / 4
    this.#marks = take() / 4
    arena.bytes.set(SPARSE_MERKLE_PLACEHOLDER, this.#emptyAt)
    arena.bytes.set(this.#hasher.seed('SparseMerkleInternal'), this.#innerSeedAt)
    arena.bytes.set(this.#hasher.seed('SparseMerkleLeafNode'), this.#leafSeedAt)
    this.#arena = arena
  }

  #grow(leafCapacity: number, innerCapacity: number): void {
    const { bytes, words } = this.#arena
    const old = [this.#writesAt, this.#keysAt, this.#leafHashesAt, this.#innerHashesAt]
    const oldFields = [this.#lefts, this.#rights, this.#marks]
    const lengths = [
      WRITES_AT_ONCE * 2 * HASH_LENGTH,
      this.#leafCapacity * HASH_LENGTH,
      this.#leafCapacity * HASH_LENGTH,
      this.#innerCapacity * HASH_LENGTH,
    ]
    const fieldLength = this.#innerCapacity
    this.#leafCapacity = leafCapacity
    this.#innerCapacity = innerCapacity
    this.#layOut()
    const moved = [this.#writesAt, this.#keysAt, this.#leafHashesAt, this.#innerHashesAt]
    for (const [at, start] of old.entries()) {
      this.#arena.bytes.set(bytes.subarray(start, start + lengths[at]!), moved[at]!)
    }
    for (const [at, field] of [this.#lefts, this.#rights, this.#marks].entries()) {
      this.#arena.words.set(words.subarray(oldFields[at]!, oldFields[at]! + fieldLength), field)
    }
  }
}

/** A mark that no change has. */
const NEVER = 0xffff_ffff

function bitOf(bytes: Uint8Array, at: number, bit: number): boolean {
  return ((bytes[at + (bit >> 3)]! >> (7 - (bit & 7))) & 1) === 1
}
