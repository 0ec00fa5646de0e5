import { copyBytes } from '@ledger-state/core/bytes'
import { HASH_LENGTH, type PartTree } from '@ledger-state/proof'
import { keyHashBits } from './tree-part.js'
import { HASHED_KEY_AT, HASHED_WRITE_LENGTH } from './write-batch.js'

/** Roots of subtrees before a range, and after each block of the range that may have changed them. */
export interface SubtreeRoots {
  /** Number of the block in the range of each root, ascending; -1 before the range. */
  readonly blocks: Int32Array<ArrayBuffer>
  /** Number of the subtree of each root. */
  readonly subtrees: Uint16Array<ArrayBuffer>
  readonly kinds: Uint8Array<ArrayBuffer>
  /** `HASH_LENGTH` bytes each. */
  readonly roots: Uint8Array<ArrayBuffer>
}

/** The result of the replay of a part. */
export interface PartRoots {
  /** Roots of the part, which is its only subtree. */
  readonly whole: SubtreeRoots
  /** Roots of its subtrees at the depth of a cut; undefined if none are asked for. */
  readonly cut: SubtreeRoots | undefined
  /** The leaves after the last block, as `PartTree.save` returns them. */
  readonly leaves: Uint8Array<ArrayBuffer>
}

/** A part whose writes are replayed. */
export interface ReplayedPart {
  /** Bits of the key hashes that all keys of the part share. */
  readonly depth: number
  /** Depth of a cut below the part; undefined if none is asked for. */
  readonly cutDepth: number | undefined
  /** Leaves before the range. */
  readonly leaves: Uint8Array
  /** Hashed writes in any order, except that the writes of a key come in the order of their versions. */
  readonly writes: Uint8Array
  /** Last version of each block, less the first of the range. */
  readonly ends: Uint32Array
}

/** Replays the writes of a part, block by block. @param tree a tree whose memory is used */
export function replayPart(tree: PartTree, { depth, cutDepth, leaves, writes, ends }: ReplayedPart): PartRoots {
  tree.clear(depth)
  // If a key comes twice, the leaves are damaged, which their digest shows.
  tree.load(leaves)
  const order = orderByVersion(writes)
  const whole = new RootList(Math.min(order.length, ends.length) + 1)
  const cut = cutDepth === undefined ? undefined : new CutList(tree, depth, cutDepth, order.length)
  whole.push(-1, 0, tree.kind, tree.root)
  cut?.pushAll()
  let block = 0
  for (let at = 0; at < order.length; ) {
    const version = versionOf(writes, order[at]!)
    while (ends[block]! < version) block++
    const end = ends[block]!
    for (; at < order.length && versionOf(writes, order[at]!) <= end; at++) {
      const keyAt = order[at]! * HASHED_WRITE_LENGTH + HASHED_KEY_AT
      const keyHash = writes.subarray(keyAt, keyAt + HASH_LENGTH)
      if (writes[keyAt - 4] === 1) tree.remove(keyHash)
      else tree.put(keyHash, writes.subarray(keyAt + HASH_LENGTH, keyAt + 2 * HASH_LENGTH))
      cut?.note(keyHash)
    }
    tree.finish()
    whole.push(block, 0, tree.kind, tree.root)
    cut?.pushNoted(block)
  }
  return { whole: whole.toRoots(), cut: cut?.list.toRoots(), leaves: tree.save() }
}

/** Collects the roots of the subtrees of a part. */
class CutList {
  readonly list: RootList
  readonly #tree: PartTree
  readonly #depth: number
  readonly #cutDepth: number
  readonly #count: number
  /** For each subtree, whether it was noted. */
  readonly #isNoted: Uint8Array
  readonly #noted: number[] = []

  constructor(tree: PartTree, depth: number, cutDepth: number, writes: number) {
    this.#tree = tree
    this.#depth = depth
    this.#cutDepth = cutDepth
    this.#count = 2 ** (cutDepth - depth)
    this.#isNoted = new Uint8Array(this.#count)
    this.list = new RootList(this.#count + writes)
  }

  /** Adds the roots of all subtrees before the range. */
  pushAll(): void {
    for (let subtree = 0; subtree < this.#count; subtree++) this.#push(-1, subtree)
  }

  /** Notes that the subtree of a key changes. */
  note(keyHash: Uint8Array): void {
    const subtree = keyHashBits(keyHash, this.#depth, this.#cutDepth)
    if (this.#isNoted[subtree] === 1) return
    this.#isNoted[subtree] = 1
    this.#noted.push(subtree)
  }

  /** Adds the roots of the noted subtrees after a block. */
  pushNoted(block: number): void {
    for (const subtree of this.#noted) {
      this.#push(block, subtree)
      this.#isNoted[subtree] = 0
    }
    this.#noted.length = 0
  }

  #push(block: number, subtree: number): void {
    const tree = this.#tree
    this.list.push(block, subtree, tree.kindAt(this.#cutDepth, subtree), tree.hashAt(this.#cutDepth, subtree))
  }
}

function versionOf(writes: Uint8Array, index: number): number {
  const at = index * HASHED_WRITE_LENGTH
  return (writes[at]! | (writes[at + 1]! << 8) | (writes[at + 2]! << 16) | (writes[at + 3]! << 24)) >>> 0
}

/** The indexes of the writes in the order of their versions; writes of one version keep their order. */
function orderByVersion(writes: Uint8Array): Uint32Array {
  const count = writes.length / HASHED_WRITE_LENGTH
  const sorted = new BigUint64Array(count)
  const halves = new Uint32Array(sorted.buffer)
  const low = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 0 : 1
  for (let index = 0; index < count; index++) {
    halves[2 * index + low] = index
    halves[2 * index + 1 - low] = versionOf(writes, index)
  }
  sorted.sort()
  return Uint32Array.from({ length: count }, (_, at) => halves[2 * at + low]!)
}

class RootList {
  readonly #blocks: Int32Array<ArrayBuffer>
  readonly #subtrees: Uint16Array<ArrayBuffer>
  readonly #kinds: Uint8Array<ArrayBuffer>
  readonly #roots: Uint8Array<ArrayBuffer>
  #count = 0

  constructor(most: number) {
    this.#blocks = new Int32Array(most)
    this.#subtrees = new Uint16Array(most)
    this.#kinds = new Uint8Array(most)
    this.#roots = new Uint8Array(most * HASH_LENGTH)
  }

  push(block: number, subtree: number, kind: number, root: Uint8Array): void {
    this.#blocks[this.#count] = block
    this.#subtrees[this.#count] = subtree
    this.#kinds[this.#count] = kind
    this.#roots.set(root, this.#count * HASH_LENGTH)
    this.#count++
  }

  toRoots(): SubtreeRoots {
    const count = this.#count
    return {
      blocks: this.#blocks.slice(0, count),
      subtrees: this.#subtrees.slice(0, count),
      kinds: copyBytes(this.#kinds, 0, count),
      roots: copyBytes(this.#roots, 0, count * HASH_LENGTH),
    }
  }
}
