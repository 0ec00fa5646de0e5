import { Buffer } from 'node:buffer'
import { closeSync, fstatSync } from 'node:fs'
import { join } from 'node:path'
import {
  checkCheckpoint,
  expectHash,
  HASH_LENGTH,
  LedgerHasher,
  rootOfStatePath,
  type SignedCheckpoint,
  SPARSE_MERKLE_PLACEHOLDER,
  type StateLeaf,
  type StatePath,
} from '@ledger-state/proof'
import { badStateTree } from '../errors.js'
import { openToRead, readAt } from './file-bytes.js'
import { LEAF_LENGTH } from './fold-leaves.js'
import { bytesToDescription, type TreeDescription } from './tree-description.js'
import { treeFileName } from './tree-files.js'
import { depthOf, HEADER_LENGTH, TREE_MAGIC, type TreeLayout, treeLayoutOf } from './tree-layout.js'
import { keyHashBits } from './tree-part.js'

const KEY_BITS = 8 * HASH_LENGTH

/** The sparse Merkle tree of the state at a checkpoint, from which the paths of keys are read. */
export interface StateTree {
  readonly checkpoint: SignedCheckpoint
  /** The word before the name of each hash. */
  readonly hashSalt: string
  /** Root of the state. */
  readonly root: Uint8Array
  readonly keys: number
  /** Bytes of the tree's file. */
  readonly bytes: number
  /**
   * The path of a state key; takes about 0.1 ms. A path that does not lead to the root is not returned.
   * @param stateKey in database form
   * @throws `state_tree_damaged`
   */
  pathOf(stateKey: Uint8Array): StatePath
  /** Closes the file; paths can no longer be read. */
  close(): void
}

/**
 * Opens the tree of a version that `writeStateTree` wrote to a folder. Undefined if there is none.
 * @throws `state_tree_damaged`
 */
export function openStateTree(folder: string, version: bigint): StateTree | undefined {
  const path = join(folder, treeFileName(version))
  return openToRead(path, (file) => new TreeFile(path, file, version))
}

class TreeFile implements StateTree {
  readonly checkpoint: SignedCheckpoint
  readonly hashSalt: string
  readonly root: Uint8Array
  readonly keys: number
  readonly bytes: number
  readonly #path: string
  readonly #file: number
  readonly #layout: TreeLayout
  readonly #hasher: LedgerHasher

  constructor(path: string, file: number, version: bigint) {
    this.#path = path
    this.#file = file
    const header = this.#read(0, HEADER_LENGTH)
    if (!TREE_MAGIC.every((byte, at) => header[at] === byte)) throw badStateTree(path, 'its first bytes are wrong')
    if (header.readBigUInt64LE(8) !== version) throw badStateTree(path, 'it is of another version')
    this.keys = header.readUInt32LE(16)
    const depth = header.readUInt32LE(20)
    const describedLength = header.readUInt32LE(24)
    this.root = Uint8Array.from(header.subarray(32, 32 + HASH_LENGTH))
    this.bytes = fstatSync(file).size
    this.#layout = treeLayoutOf(this.keys, depth, describedLength)
    if (depth !== depthOf(this.keys) || this.#layout.length !== this.bytes)
      throw badStateTree(path, 'its length is another')
    const { hashSalt, checkpoint } = this.#readDescription(describedLength)
    if (checkpoint.version !== version) throw badStateTree(path, 'it is of another version')
    this.hashSalt = hashSalt
    this.checkpoint = checkpoint
    this.#hasher = new LedgerHasher(hashSalt)
    this.#expectRoot()
  }

  pathOf(stateKey: Uint8Array): StatePath {
    const keyHash = this.#hasher.hash('StateKey', stateKey)
    const path = this.#pathOf(keyHash)
    if (Buffer.compare(rootOfStatePath(this.#hasher, path, keyHash), this.root) === 0) return path
    throw badStateTree(this.#path, 'a path in it leads to another root')
  }

  close(): void {
    closeSync(this.#file)
  }

  /** Path of a key hash: goes from the root down, and reverses the siblings in the end. */
  #pathOf(keyHash: Uint8Array): StatePath {
    const { depth } = this.#layout
    const siblings: Uint8Array[] = []
    let [first, end] = this.#leavesBelow(keyHash, depth)
    let bottom = depth
    // Hashes are spread evenly: if more than one leaf is below the last level, more are above it, too.
    if (end - first < 2) {
      bottom = 0
      ;[first, end] = [0, this.keys]
      while (end - first > 1) [first, end] = this.#leavesBelow(keyHash, ++bottom)
    }
    for (let level = 1; level <= bottom; level++) {
      siblings.push(this.#read(this.#layout.nodeAt(level, keyHashBits(keyHash, 0, level) ^ 1), HASH_LENGTH))
    }
    const leaves = this.#read(this.#layout.leafAt(first), (end - first) * LEAF_LENGTH)
    const leaf = this.#descend(leaves, keyHash, bottom, siblings)
    return { leaf, siblings: siblings.reverse() }
  }

  /**
   * Follows a key hash below the kept nodes, and adds the siblings on its way.
   * @param leaves in the order of their keys
   */
  #descend(leaves: Buffer, keyHash: Uint8Array, depth: number, siblings: Uint8Array[]): StateLeaf | undefined {
    let [first, end] = [0, leaves.length / LEAF_LENGTH]
    for (let bit = depth; end - first > 1; bit++) {
      if (bit === KEY_BITS) throw badStateTree(this.#path, 'two leaves of it have one key')
      const middle = middleOf(leaves, first, end, bit)
      const isRight = isOne(keyHash, bit)
      siblings.push(isRight ? this.#fold(leaves, first, middle, bit + 1) : this.#fold(leaves, middle, end, bit + 1))
      if (isRight) first = middle
      else end = middle
    }
    return end > first ? leafOf(leaves, first) : undefined
  }

  #fold(leaves: Buffer, first: number, end: number, bit: number): Uint8Array {
    if (first === end) return SPARSE_MERKLE_PLACEHOLDER
    if (end - first === 1) {
      const { keyHash, valueHash } = leafOf(leaves, first)
      return this.#hasher.hashPair('SparseMerkleLeafNode', keyHash, valueHash)
    }
    if (bit === KEY_BITS) throw badStateTree(this.#path, 'two leaves of it have one key')
    const middle = middleOf(leaves, first, end, bit)
    const left = this.#fold(leaves, first, middle, bit + 1)
    const right = this.#fold(leaves, middle, end, bit + 1)
    return this.#hasher.hashPair('SparseMerkleInternal', left, right)
  }

  /**
   * The leaves below the node at a level on the way to a key hash: index of the first leaf, and index after the last.
   */
  #leavesBelow(keyHash: Uint8Array, level: number): [number, number] {
    const width = 2 ** (this.#layout.depth - level)
    const index = keyHashBits(keyHash, 0, level) * width
    const first = this.#read(this.#layout.startAt(index), 4).readUInt32LE(0)
    const end = this.#read(this.#layout.startAt(index + width), 4).readUInt32LE(0)
    if (first > end || end > this.keys) throw badStateTree(this.#path, 'its leaves are counted wrongly')
    return [first, end]
  }

  #readDescription(length: number): TreeDescription {
    try {
      return bytesToDescription(this.#read(HEADER_LENGTH, length))
    } catch (error) {
      throw badStateTree(this.#path, error)
    }
  }

  /** Checks that the checkpoint has the root of the tree. */
  #expectRoot(): void {
    try {
      const { stateRoot } = checkCheckpoint(this.#hasher, this.checkpoint)
      expectHash('the state root', this.root, stateRoot)
    } catch (error) {
      throw badStateTree(this.#path, error)
    }
  }

  #read(place: number, length: number): Buffer {
    return readAt(this.#path, this.#file, Buffer.allocUnsafe(length), place)
  }
}

/** Index of the first leaf with bit 1, among leaves that agree in all earlier bits. */
function middleOf(leaves: Buffer, first: number, end: number, bit: number): number {
  let middle = first
  while (middle < end && !isOne(leaves, bit + middle * LEAF_LENGTH * 8)) middle++
  return middle
}

function isOne(bytes: Uint8Array, bit: number): boolean {
  return (bytes[bit >> 3]! & (0x80 >> (bit & 7))) !== 0
}

function leafOf(leaves: Buffer, at: number): StateLeaf {
  const place = at * LEAF_LENGTH
  return {
    keyHash: leaves.subarray(place, place + HASH_LENGTH),
    valueHash: leaves.subarray(place + HASH_LENGTH, place + LEAF_LENGTH),
  }
}
