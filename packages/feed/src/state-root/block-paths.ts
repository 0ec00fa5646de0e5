import { join } from 'node:path'
import { SizedCache } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import {
  HASH_LENGTH,
  HashBatch,
  LedgerHasher,
  PartTree,
  type StateLeaf,
  type StatePath,
  SUBTREE_EMPTY,
  SUBTREE_LEAF,
  TopTree,
} from '@ledger-state/proof'
import { badStateTree } from '../errors.js'
import { type CutFile, openCutFile, type StoredCut } from './cut-file.js'
import { LEAF_LENGTH } from './fold-leaves.js'
import { type KeysFile, keysOfList, openKeysFile } from './keys-file.js'
import { MOST_PART_DEPTH } from './leaves-file.js'
import { addStateKey, addStateValue } from './state-hashes.js'
import { keyHashBits } from './tree-part.js'

/** Keys that are read in one step: about 2 ms. */
const KEYS_AT_ONCE = 500
/** Bytes of subtrees that are kept for further questions about the same block. */
const KEPT_BYTES = 2 ** 25
/** Bytes of a kept leaf with its nodes, and of a kept subtree without leaves. */
const LEAF_BYTES = 240
const TREE_BYTES = 2 ** 19
/** Average bytes of a key while its subtree is computed. */
const MAKING_BYTES = 500

/** How a path is computed. */
export interface PathWork {
  /** Called between steps of a few milliseconds. */
  turn(): Promise<unknown>
  /** Called with bytes before they are allocated. */
  hold(bytes: number): void
}

/** Files from which the paths of keys at ends of blocks are computed. */
export interface BlockPathFiles {
  /** Name of the file with the keys. */
  readonly keysFile: string
  /** Number of keys with a value in the newest state, from which memory is foreseen. */
  readonly keys: number
  /** Files with cuts, in the order of their versions. */
  readonly cuts: readonly { readonly name: string; readonly bytes: number }[]
}

/** A value of the state, as it was written. */
export interface PathValue {
  readonly value: Uint8Array
  readonly annotation?: Uint8Array | undefined
}

/** The state at the end of a block. */
export interface BlockState {
  readonly version: bigint
  /** Reads the values of state keys at the version, in any order. `visit` takes undefined for a key that has none. */
  readEach(keys: readonly Uint8Array[], visit: (key: Uint8Array, value: PathValue | undefined) => void): Promise<void>
}

/** Paths of keys in the trees of the state at ends of blocks. Trees are not kept: a path is computed from a cut and values. */
export interface BlockPaths {
  /**
   * Uses these files instead of those before. Files that were in use and are named again stay open.
   * @returns whether all of them were there; if not, the earlier ones stay in use
   * @throws `state_tree_damaged`
   */
  use(files: BlockPathFiles): boolean
  /** The newest end of a block up to a version that has paths. @throws `state_tree_damaged` */
  endUpTo(version: bigint): bigint | undefined
  /** The oldest such end above a version. @throws `state_tree_damaged` */
  endAfter(version: bigint): bigint | undefined
  /**
   * The path of a state key; undefined if the version is not such an end. The first question about a subtree reads all
   * its keys; further ones take about 0.1 ms.
   * @throws `state_tree_damaged` if values or files do not have the root of the subtree; errors of `readEach`
   */
  pathOf(state: BlockState, stateKey: Uint8Array, work: PathWork): Promise<StatePath | undefined>
  /** Closes the files. */
  close(): void
}

/** Creates the paths of a ledger, which have no files at first. @param folder where the files are */
export function createBlockPaths(folder: string, hashSalt: string): BlockPaths {
  return new OpenBlockPaths(folder, hashSalt)
}

interface OpenCuts {
  readonly bytes: number
  readonly file: CutFile
}

/** A subtree at the depth of a cut, with its leaves. */
interface Part {
  readonly tree: PartTree
  readonly leaves: readonly StateLeaf[]
}

class OpenBlockPaths implements BlockPaths {
  readonly #folder: string
  readonly #hasher: LedgerHasher
  readonly #parts = new SizedCache<Part>(KEPT_BYTES, KEPT_BYTES / 2)
  #keys: KeysFile | undefined
  #keyCount = 0
  #open = new Map<string, OpenCuts>()
  /** The open files in the order of their versions. */
  #cuts: readonly CutFile[] = []

  constructor(folder: string, hashSalt: string) {
    this.#folder = folder
    this.#hasher = new LedgerHasher(hashSalt)
  }

  use({ keysFile, keys: keyCount, cuts }: BlockPathFiles): boolean {
    const fresh: { close(): void }[] = []
    const open = new Map<string, OpenCuts>()
    try {
      const keys = openKeysFile(join(this.#folder, keysFile))
      if (keys) fresh.push(keys)
      for (const { name, bytes } of cuts) {
        const before = this.#open.get(name)
        const isKept = before?.bytes === bytes
        const file = isKept ? before.file : openCutFile(join(this.#folder, name), bytes)
        if (!file) break
        if (!isKept) fresh.push(file)
        open.set(name, { bytes, file })
      }
      if (!keys || open.size < cuts.length) {
        for (const file of fresh) file.close()
        return false
      }
      this.#replace(keys, keyCount, open)
      return true
    } catch (error) {
      for (const file of fresh) file.close()
      throw error
    }
  }

  endUpTo(version: bigint): bigint | undefined {
    const file = this.#cuts.findLast(({ first }) => first <= version)
    return file?.endUpTo(version)
  }

  endAfter(version: bigint): bigint | undefined {
    const file = this.#cuts.find(({ last }) => last > version)
    return file?.endAfter(version)
  }

  async pathOf(state: BlockState, stateKey: Uint8Array, work: PathWork): Promise<StatePath | undefined> {
    const cut = this.#cuts.findLast(({ first }) => first <= state.version)?.at(state.version)
    if (!cut) return undefined
    const keyHash = this.#hasher.hash('StateKey', stateKey)
    const top = new TopTree(this.#hasher, cut.depth)
    for (const [part, kind] of cut.kinds.entries()) {
      top.set(part, kind, cut.roots.subarray(part * HASH_LENGTH, (part + 1) * HASH_LENGTH))
    }
    top.root()
    const siblings: Uint8Array[] = []
    for (let level = 0; ; level++) {
      const index = keyHashBits(keyHash, 0, level)
      const kind = top.kindAt(level, index)
      if (kind === SUBTREE_EMPTY) return { leaf: undefined, siblings: siblings.reverse() }
      if (level === cut.depth || kind === SUBTREE_LEAF) {
        // A single leaf is in one of the parts below.
        let part = index * 2 ** (cut.depth - level)
        while (cut.kinds[part] === SUBTREE_EMPTY) part++
        return await this.#pathInPart(state, { cut, part, keyHash, siblings }, work)
      }
      siblings.push(Uint8Array.from(top.hashAt(level + 1, keyHashBits(keyHash, 0, level + 1) ^ 1)))
    }
  }

  close(): void {
    this.#replace(undefined, 0, new Map())
  }

  /** Takes files into use, and closes the others: no path under way reads from them, as it has read all it needs. */
  #replace(keys: KeysFile | undefined, keyCount: number, open: Map<string, OpenCuts>): void {
    this.#keys?.close()
    for (const [name, { file }] of this.#open) if (open.get(name)?.file !== file) file.close()
    this.#keys = keys
    this.#keyCount = keyCount
    this.#open = open
    this.#cuts = Array.from(open.values(), ({ file }) => file)
  }

  async #pathInPart(state: BlockState, { cut, part, keyHash, siblings }: PartPlace, work: PathWork) {
    const { tree, leaves } = await this.#partAt(state, cut, part, work)
    if (cut.kinds[part] === SUBTREE_LEAF) return { leaf: leaves[0], siblings: siblings.reverse() }
    const below = tree.pathOf(keyHash)
    const leaf = below.leaf && leaves.find((one) => compareBytes(one.keyHash, below.leaf!) === 0)
    return { leaf, siblings: [...siblings, ...below.siblings].reverse() }
  }

  async #partAt(state: BlockState, cut: StoredCut, part: number, work: PathWork): Promise<Part> {
    const name = `${state.version} ${part} ${cut.depth}`
    const kept = this.#parts.get(name)
    const root = cut.roots.subarray(part * HASH_LENGTH, (part + 1) * HASH_LENGTH)
    // After a truncation, another state may have the number of the version.
    if (kept && compareBytes(kept.tree.root, root) === 0) return kept
    work.hold(TREE_BYTES + (this.#keyCount / 2 ** cut.depth) * MAKING_BYTES)
    const made = await this.#makePart(state, cut, part, work)
    this.#parts.set(name, made, TREE_BYTES + made.leaves.length * LEAF_BYTES)
    return made
  }

  async #makePart(state: BlockState, cut: StoredCut, part: number, { turn }: PathWork): Promise<Part> {
    const names = await this.#keysOf(part, cut.depth, turn)
    const leaves: StateLeaf[] = []
    const tree = new PartTree(this.#hasher, cut.depth, names.length)
    const hashes = new HashBatch(this.#hasher)
    for (let at = 0; at < names.length; at += KEYS_AT_ONCE) {
      if (at > 0) await turn()
      for (const leaf of await leavesOf(state, names.slice(at, at + KEYS_AT_ONCE), hashes)) {
        tree.put(leaf.keyHash, leaf.valueHash)
        leaves.push(leaf)
      }
    }
    tree.finish()
    const root = cut.roots.subarray(part * HASH_LENGTH, (part + 1) * HASH_LENGTH)
    if (compareBytes(tree.root, root) !== 0) {
      throw badStateTree(this.#folder, `the values of version ${state.version} have another root`)
    }
    return { tree, leaves }
  }

  async #keysOf(part: number, depth: number, turn: () => Promise<unknown>): Promise<Uint8Array[]> {
    // The file divides keys into fewer parts than a deep cut.
    const readDepth = Math.min(depth, MOST_PART_DEPTH)
    const within = part % 2 ** (depth - readDepth)
    const { lists, lengths } = this.#keys!.read(part >> (depth - readDepth), readDepth)
    const names: Uint8Array[] = []
    let [at, next] = [0, KEYS_AT_ONCE * 8]
    for (const length of lengths) {
      for (const name of this.#keysOfList(lists.subarray(at, at + length))) {
        const isOther =
          depth > readDepth && keyHashBits(this.#hasher.hash('StateKey', name), readDepth, depth) !== within
        if (!isOther) names.push(name)
      }
      at += length
      if (names.length < next) continue
      next = names.length + KEYS_AT_ONCE * 8
      await turn()
    }
    return names
  }

  #keysOfList(list: Uint8Array): Uint8Array[] {
    try {
      return keysOfList(list)
    } catch (error) {
      throw badStateTree(this.#folder, error)
    }
  }
}

interface PartPlace {
  readonly cut: StoredCut
  readonly part: number
  readonly keyHash: Uint8Array
  /** The siblings above the part, the highest first. */
  readonly siblings: Uint8Array[]
}

/** The leaves of those keys that have a value. Only one call at a time may use the hashes. */
async function leavesOf(state: BlockState, names: readonly Uint8Array[], hashes: HashBatch): Promise<StateLeaf[]> {
  hashes.clear()
  await state.readEach(names, (name, found) => {
    if (!found) return
    addStateKey(hashes, name)
    addStateValue(hashes, found.value, found.annotation)
  })
  const count = hashes.count / 2
  const bytes = Uint8Array.from(hashes.flush())
  return Array.from({ length: count }, (_, at) => ({
    keyHash: bytes.subarray(at * LEAF_LENGTH, at * LEAF_LENGTH + HASH_LENGTH),
    valueHash: bytes.subarray(at * LEAF_LENGTH + HASH_LENGTH, (at + 1) * LEAF_LENGTH),
  }))
}
