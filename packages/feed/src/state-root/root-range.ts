import { HASH_LENGTH, type LedgerHasher, SAVED_LEAF_LENGTH, TopTree } from '@ledger-state/proof'
import { BatchSender } from './batch-sender.js'
import type { Cut } from './cut-file.js'
import { type KeyLists, type KeysFile, KeysWriter } from './keys-file.js'
import { LeafStore } from './leaf-store.js'
import { type LeavesFile, LeavesWriter, MOST_PART_DEPTH } from './leaves-file.js'
import { namedKeyLength } from './merge-keys.js'
import type { PartRoots, SubtreeRoots } from './replay-part.js'
import type { RootResult } from './root-job.js'
import type { RootThreads } from './root-threads.js'
import { HASHED_KEY_AT, HASHED_WRITE_LENGTH, type NamedWrites, type RangeWrite, WriteBatch } from './write-batch.js'

/** Bytes of writes that are sent to a thread at once. */
const BATCH_BYTES = 256 * 1_024
/** Parts that are replayed while another is written. */
const PARTS_AHEAD = 4
/** Leaves and writes of a part on average: about 16 MiB of nodes, which fit into the caches of a CPU. */
const PART_LEAVES = 2 ** 16
const LEAST_PART_DEPTH = 4
/** Bytes of keys in memory, as a share of the bytes of hashed writes. */
const KEYS_SHARE = 1 / 4

/** Options of a range. */
export interface RootRangeOptions {
  readonly threads: RootThreads
  readonly hasher: LedgerHasher
  /** An existing folder for temporary files. */
  readonly folder: string
  /** Bytes of hashed writes in memory before files are written. */
  readonly memoryBytes: number
  /** The state before the range; undefined if it is empty. */
  readonly base: LeavesFile | undefined
  /** Number of writes that the range may have; it only chooses the number of parts. */
  readonly writes: number
  /** Depth of the cuts that are asked for; undefined if none are. */
  readonly cutDepth: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly pace?: (() => Promise<void>) | undefined
}

/** Files of the keys before a range, and after it. */
export interface RangeKeys {
  /** Undefined if there were no keys before. */
  readonly before: KeysFile | undefined
  readonly path: string
}

/** Where the state after a range goes, and who sees its blocks. */
export interface RangeFinish {
  /** File for the leaves. */
  readonly path: string
  /** Files of the keys, for a range with cuts. */
  readonly keys?: RangeKeys | undefined
  /** Called for each block in order with the root of the state after it, and the cut, which are valid during the call. */
  readonly onRoot: (block: number, root: Uint8Array, cut: Cut) => void
  /** Called after each part with the share of the work that is done. */
  readonly onPart?: ((share: number) => void) | undefined
}

/** Result of a range: the root before it, and the leaves after it are in the file. */
export interface RangeRoots {
  /** Root of the state before the range, computed from the leaves of its file. */
  readonly before: Uint8Array
  readonly after: Uint8Array
  readonly keys: number
  /** Bytes of the file with the keys; undefined if it was not asked for. */
  readonly keysBytes: number | undefined
  /** Digest of the file with the leaves, in hex. */
  readonly digest: string
}

/**
 * Computes the root of the state after each block of a range of versions. The writes come in any order; they are
 * hashed, divided by the first bits of their key hashes, and replayed part after part. Memory is bounded: writes beyond
 * `memoryBytes` are in files, and a part has about 65,000 leaves, or 1/4,096 of the state if that is more.
 */
export class RootRange {
  readonly #options: RootRangeOptions
  readonly #depth: number
  readonly #store: LeafStore
  /** Keys of the writes, if cuts are asked for. */
  readonly #keys: LeafStore | undefined
  readonly #sender: BatchSender
  #batch = new WriteBatch(BATCH_BYTES)
  #writes = 0

  constructor(options: RootRangeOptions) {
    this.#options = options
    const leaves = (options.base?.leaves ?? 0) + options.writes / 4
    const depth = Math.ceil(Math.log2(Math.max(1, leaves / PART_LEAVES)))
    this.#depth = Math.min(MOST_PART_DEPTH, Math.max(LEAST_PART_DEPTH, depth))
    const shape = { length: HASHED_WRITE_LENGTH, keyAt: HASHED_KEY_AT, depth: this.#depth }
    this.#store = new LeafStore(options.memoryBytes, options.folder, shape)
    if (options.cutDepth !== undefined) {
      const named = { length: namedKeyLength, keyAt: 0, depth: this.#depth }
      this.#keys = new LeafStore(options.memoryBytes * KEYS_SHARE, options.folder, named)
    }
    this.#sender = new BatchSender(options.threads, (hashed) => this.#take(hashed))
  }

  /** Number of writes so far. */
  get writes(): number {
    return this.#writes
  }

  /** Adds a write. If a promise is returned, the next write must wait for it. @throws `spill_failed` */
  add(write: RangeWrite): Promise<void> | undefined {
    this.#writes++
    if (this.#batch.add(write)) return undefined
    const full = this.#batch
    this.#batch = new WriteBatch(BATCH_BYTES)
    this.#batch.add(write)
    return this.#send(full)
  }

  /**
   * Replays all writes, and writes the leaves of the state after them to a file.
   * @param ends last version of each block, less the first of the range, ascending
   * @throws `spill_failed`; `state_tree_damaged` if the keys before are
   */
  async finish(ends: Uint32Array, version: bigint, options: RangeFinish): Promise<RangeRoots> {
    const { path, onRoot, keys: keysOptions } = options
    if (!this.#batch.isEmpty) await this.#send(this.#batch)
    await this.#sender.finish()
    const file = new LeavesWriter(path)
    try {
      const { parts, keys } = await this.#replay(ends, file, options.onPart)
      const keysBytes = keysOptions && (await this.#writeKeys(version, keysOptions))
      const top = new TopTree(this.#options.hasher, this.#depth)
      const before = foldBlocks(
        { top, depth: this.#depth, parts, blockCount: ends.length, cutDepth: this.#options.cutDepth },
        onRoot,
      )
      const after = Uint8Array.from(top.root())
      return { before, after, keys, keysBytes, digest: file.finish(version, after) }
    } finally {
      file.close()
    }
  }

  /** Removes temporary files. */
  async close(): Promise<void> {
    await this.#sender.settle()
    await this.#store.close()
    await this.#keys?.close()
  }

  #send(batch: WriteBatch): Promise<void> {
    return this.#sender.send({ kind: 'writes', batch: batch.toBytes(), isNamed: this.#keys !== undefined })
  }

  async #take(result: RootResult): Promise<void> {
    if (!this.#keys) return await this.#store.add(result as Uint8Array)
    const { hashed, keys } = result as NamedWrites
    await this.#store.add(hashed)
    await this.#keys.add(keys)
  }

  /**
   * Writes the keys before the range and the keys of its writes.
   * @returns the length of the file
   */
  async #writeKeys(version: bigint, { path, before }: RangeKeys): Promise<number> {
    const { threads, signal, pace } = this.#options
    const file = new KeysWriter(path)
    const pending: Promise<KeyLists>[] = []
    const width = 2 ** (MOST_PART_DEPTH - this.#depth)
    try {
      for (let part = 0; part < 2 ** this.#depth; part++) {
        await threads.ready()
        await pace?.()
        signal?.throwIfAborted()
        const named = await this.#keys!.take(part)
        const lists = before?.read(part, this.#depth) ?? { lists: new Uint8Array(0), lengths: new Uint32Array(width) }
        pending.push(threads.run({ kind: 'keys', before: lists, named }) as Promise<KeyLists>)
        if (pending.length > PARTS_AHEAD) file.append(await pending.shift()!)
      }
      while (pending.length > 0) file.append(await pending.shift()!)
      return file.finish(version)
    } finally {
      await Promise.allSettled(pending)
      file.close()
    }
  }

  async #replay(
    ends: Uint32Array,
    file: LeavesWriter,
    onPart: (share: number) => void = () => {},
  ): Promise<{ readonly parts: PartRoots[]; readonly keys: number }> {
    const { threads, base, signal, pace, cutDepth: asked } = this.#options
    const cutDepth = asked !== undefined && asked > this.#depth ? asked : undefined
    // All threads read the same memory.
    const shared = new Uint32Array(new SharedArrayBuffer(ends.byteLength))
    shared.set(ends)
    const parts: PartRoots[] = []
    const pending: Promise<PartRoots>[] = []
    let keys = 0
    const takeNext = async () => {
      const { leaves, ...roots } = await pending.shift()!
      file.append(leaves)
      keys += leaves.length / SAVED_LEAF_LENGTH
      parts.push({ ...roots, leaves: NO_LEAVES })
      onPart(parts.length / 2 ** this.#depth)
    }
    try {
      for (let part = 0; part < 2 ** this.#depth; part++) {
        await threads.ready()
        await pace?.()
        signal?.throwIfAborted()
        const leaves = base ? base.read(part, this.#depth) : NO_LEAVES
        const writes = await this.#store.take(part)
        const job = { kind: 'replay', leaves, writes, ends: shared, depth: this.#depth, cutDepth } as const
        pending.push(threads.run(job) as Promise<PartRoots>)
        if (pending.length > PARTS_AHEAD) await takeNext()
      }
      while (pending.length > 0) await takeNext()
    } finally {
      await Promise.allSettled(pending)
    }
    return { parts, keys }
  }
}

const NO_LEAVES = new Uint8Array(0)

interface PartsOfBlocks {
  readonly top: TopTree
  readonly depth: number
  readonly parts: readonly PartRoots[]
  readonly blockCount: number
  /** Depth of the cuts that are asked for; undefined if none are. */
  readonly cutDepth: number | undefined
}

/**
 * Folds the roots of all parts, block by block.
 * @returns the root before the first block
 */
function foldBlocks(
  { top, depth, parts, blockCount, cutDepth }: PartsOfBlocks,
  onRoot: RangeFinish['onRoot'],
): Uint8Array {
  const changes = new BlockChanges(
    parts.map(({ whole }) => whole),
    blockCount,
  )
  const cut = cutDepth !== undefined && cutDepth > depth ? new DeepCut(parts, depth, cutDepth, blockCount) : undefined
  const changed = new Set<number>()
  const level = Math.min(cutDepth ?? 0, depth)
  const upperCut: Cut = {
    depth: level,
    changed,
    kindOf: (part) => top.kindAt(level, part),
    rootOf: (part) => top.hashAt(level, part),
  }
  const set = (part: number, { kinds, roots }: SubtreeRoots, at: number) => {
    top.set(part, kinds[at]!, roots.subarray(at * HASH_LENGTH, (at + 1) * HASH_LENGTH))
    changed.add(part >> (depth - level))
  }
  changes.visitFirst(set)
  const before = Uint8Array.from(top.root())
  for (let block = 0; block < blockCount; block++) {
    changed.clear()
    changes.visit(block, set)
    cut?.advance(block)
    onRoot(block, top.root(), cut ?? upperCut)
  }
  return before
}

/** Takes a root: the number of its part, and its place in the list of the part. */
type RootVisitor = (part: number, list: SubtreeRoots, at: number) => void

/** The roots of all parts in the order of their blocks. */
class BlockChanges {
  readonly #lists: readonly SubtreeRoots[]
  /** Where the changes of each block begin. */
  readonly #starts: Uint32Array
  /** Part of each change, and its place in the list of the part. */
  readonly #parts: Uint16Array
  readonly #places: Uint32Array

  /** Sorts by counting. */
  constructor(lists: readonly SubtreeRoots[], blockCount: number) {
    this.#lists = lists
    const starts = new Uint32Array(blockCount + 1)
    for (const { blocks } of lists) for (const block of blocks) if (block >= 0) starts[block + 1]!++
    for (let block = 0; block < blockCount; block++) starts[block + 1]! += starts[block]!
    const count = starts[blockCount]!
    const next = Uint32Array.from(starts)
    this.#starts = starts
    this.#parts = new Uint16Array(count)
    this.#places = new Uint32Array(count)
    for (const [part, { blocks }] of lists.entries()) {
      for (const [at, block] of blocks.entries()) {
        if (block < 0) continue
        const place = next[block]!++
        this.#parts[place] = part
        this.#places[place] = at
      }
    }
  }

  /** Visits the roots before the first block. */
  visitFirst(visit: RootVisitor): void {
    for (const [part, list] of this.#lists.entries()) {
      for (let at = 0; list.blocks[at]! < 0; at++) visit(part, list, at)
    }
  }

  /** Visits the roots after a block. */
  visit(block: number, visit: RootVisitor): void {
    for (let place = this.#starts[block]!; place < this.#starts[block + 1]!; place++) {
      const part = this.#parts[place]!
      visit(part, this.#lists[part]!, this.#places[place]!)
    }
  }
}

/** A cut below the parts, whose roots come from their replay. */
class DeepCut implements Cut {
  readonly depth: number
  readonly changed = new Set<number>()
  readonly #kinds: Uint8Array
  readonly #roots: Uint8Array
  readonly #changes: BlockChanges
  readonly #set: RootVisitor

  constructor(parts: readonly PartRoots[], depth: number, cutDepth: number, blockCount: number) {
    this.depth = cutDepth
    this.#kinds = new Uint8Array(2 ** cutDepth)
    this.#roots = new Uint8Array(2 ** cutDepth * HASH_LENGTH)
    this.#set = (part, { subtrees, kinds, roots }, at) => {
      const subtree = part * 2 ** (cutDepth - depth) + subtrees[at]!
      this.#kinds[subtree] = kinds[at]!
      this.#roots.set(roots.subarray(at * HASH_LENGTH, (at + 1) * HASH_LENGTH), subtree * HASH_LENGTH)
      this.changed.add(subtree)
    }
    this.#changes = new BlockChanges(
      parts.map(({ cut }) => cut!),
      blockCount,
    )
    this.#changes.visitFirst(this.#set)
  }

  /** Applies the changes of the next block. */
  advance(block: number): void {
    this.changed.clear()
    this.#changes.visit(block, this.#set)
  }

  kindOf(subtree: number): number {
    return this.#kinds[subtree]!
  }

  rootOf(subtree: number): Uint8Array {
    return this.#roots.subarray(subtree * HASH_LENGTH, (subtree + 1) * HASH_LENGTH)
  }
}
