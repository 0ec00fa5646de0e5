import { HASH_LENGTH, type PartTree } from '@ledger-state/proof'
import { HASHED_KEY_AT, HASHED_WRITE_LENGTH } from './write-batch.js'

/** The root of a part before a range, and after each block of the range that may have changed it. */
export interface PartRoots {
  /** Number of each block in the range, ascending. The first is -1: the part before the range. */
  readonly blocks: Int32Array<ArrayBuffer>
  /** Kind of the part after each block. */
  readonly kinds: Uint8Array<ArrayBuffer>
  /** Its root, `HASH_LENGTH` bytes each. */
  readonly roots: Uint8Array<ArrayBuffer>
  /** The leaves after the last block, as `PartTree.save` returns them. */
  readonly leaves: Uint8Array<ArrayBuffer>
}

/**
 * Replays the writes of a part, block by block.
 * @param tree a tree whose memory is used
 * @param saved leaves before the range
 * @param writes hashed writes in any order, except that the writes of a key come in the order of their versions
 * @param ends last version of each block, less the first of the range
 */
export function replayPart(
  tree: PartTree,
  depth: number,
  saved: Uint8Array,
  writes: Uint8Array,
  ends: Uint32Array,
): PartRoots {
  tree.clear(depth)
  // If a key comes twice, the leaves are damaged, which their digest shows.
  tree.load(saved)
  const order = orderByVersion(writes)
  const roots = new RootList(Math.min(order.length, ends.length) + 1)
  roots.push(-1, tree)
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
    }
    tree.finish()
    roots.push(block, tree)
  }
  return { ...roots.toLists(), leaves: tree.save() }
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
  readonly #kinds: Uint8Array<ArrayBuffer>
  readonly #roots: Uint8Array<ArrayBuffer>
  #count = 0

  constructor(most: number) {
    this.#blocks = new Int32Array(most)
    this.#kinds = new Uint8Array(most)
    this.#roots = new Uint8Array(most * HASH_LENGTH)
  }

  push(block: number, { kind, root }: PartTree): void {
    this.#blocks[this.#count] = block
    this.#kinds[this.#count] = kind
    this.#roots.set(root, this.#count * HASH_LENGTH)
    this.#count++
  }

  toLists(): Omit<PartRoots, 'leaves'> {
    const count = this.#count
    return {
      blocks: this.#blocks.slice(0, count),
      kinds: new Uint8Array(this.#kinds.subarray(0, count)),
      roots: new Uint8Array(this.#roots.subarray(0, count * HASH_LENGTH)),
    }
  }
}
