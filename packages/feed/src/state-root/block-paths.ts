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
import { addStateKey, addStateValue } from './state-hashes.js'
import { keyHashBits } from './tree-part.js'

/** Keys that are read in one step: some 2 ms. */
const KEYS_AT_ONCE = 500
/** Bytes of subtrees that are kept for further questions about the same block. */
const KEPT_BYTES = 2 ** 25
/** Bytes of a kept leaf with its nodes, and of a kept subtree without leaves. */
const LEAF_BYTES = 240
const TREE_BYTES = 2 ** 19
/** Bytes of a key while its subtree is computed, in the mean. */
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
  readonly folder: string
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
  /** The value of a state key at the version; undefined if there is none. */
  read(key: Uint8Array): PathValue | undefined
}

/** Paths of keys in the trees of the state at ends of blocks. Trees are not kept: a path is computed from a cut and values. */
export interface BlockPaths {
  /** The newest end of a block up to a version that has paths. @throws `state_tree_damaged` */
  endUpTo(version: bigint): bigint | undefined
  /** The oldest such end above a version. @throws `state_tree_damaged` */
  endAfter(version: bigint): bigint | undefined
  /**
   * The path of a state key; undefined if the version is not such an end. The first question about a subtree reads all
   * its keys; further ones take some 0.1 ms.
   * @throws `state_tree_damaged` if values or files do not have the root of the subtree; errors of `read`
   */
  pathOf(state: BlockState, stateKey: Uint8Array, work: PathWork): Promise<StatePath | undefined>
  /** Closes the files. */
  close(): void
}

/**
 * Opens files that an audit wrote. Undefined if one of them is gone.
 * @throws `state_tree_damaged`
 */
export function openBlockPaths(files: BlockPathFiles, hashSalt: string): BlockPaths | undefined {
  const opened: { close(): void }[] = []
  try {
    const keys = openKeysFile(join(files.folder, files.keysFile))
    if (keys) opened.push(keys)
    const cuts = files.cuts.map(({ name, bytes }) => {
      const file = openCutFile(join(files.folder, name), bytes)
      if (file) opened.push(file)
      return file
    })
    if (keys && cuts.every((file) => file !== undefined)) return new OpenBlockPaths(files, keys, cuts, hashSalt)
  } catch (error) {
    for (const file of opened) file.close()
    throw error
  }
  for (const file of opened) file.close()
  return undefined
}

/** A subtree at the depth of a cut, with its leaves. */
interface Part {
  readonly tree: PartTree
  readonly leaves: readonly StateLeaf[]
}

class OpenBlockPaths implements BlockPaths {
  readonly #files: BlockPathFiles
  readonly #keys: KeysFile
  readonly #cuts: readonly CutFile[]
  readonly #hasher: LedgerHasher
  readonly #hashes: HashBatch
  readonly #parts = new SizedCache<Part>(KEPT_BYTES, KEPT_BYTES / 2)

  constructor(files: BlockPathFiles, keys: KeysFile, cuts: readonly CutFile[], hashSalt: string) {
    this.#files = files
    this.#keys = keys
    this.#cuts = cuts
    this.#hasher = new LedgerHasher(hashSalt)
    this.#hashes = new HashBatch(this.#hasher)
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
    this.#keys.close()
    for (const file of this.#cuts) file.close()
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
    if (kept) return kept
    work.hold(TREE_BYTES + (this.#files.keys / 2 ** cut.depth) * MAKING_BYTES)
    const made = await this.#makePart(state, cut, part, work)
    this.#parts.set(name, made, TREE_BYTES + made.leaves.length * LEAF_BYTES)
    return made
  }

  async #makePart(state: BlockState, cut: StoredCut, part: number, { turn }: PathWork): Promise<Part> {
    const names = await this.#keysOf(part, cut.depth, turn)
    const leaves: StateLeaf[] = []
    const tree = new PartTree(this.#hasher, cut.depth, names.length)
    for (let at = 0; at < names.length; at += KEYS_AT_ONCE) {
      if (at > 0) await turn()
      for (const leaf of this.#leavesOf(state, names.slice(at, at + KEYS_AT_ONCE))) {
        tree.put(leaf.keyHash, leaf.valueHash)
        leaves.push(leaf)
      }
    }
    tree.finish()
    const root = cut.roots.subarray(part * HASH_LENGTH, (part + 1) * HASH_LENGTH)
    if (compareBytes(tree.root, root) !== 0) {
      throw badStateTree(this.#files.folder, `the values of version ${state.version} have another root`)
    }
    return { tree, leaves }
  }

  async #keysOf(part: number, depth: number, turn: () => Promise<unknown>): Promise<Uint8Array[]> {
    const { lists, lengths } = this.#keys.read(part, depth)
    const names: Uint8Array[] = []
    let [at, next] = [0, KEYS_AT_ONCE * 8]
    for (const length of lengths) {
      for (const name of this.#keysOfList(lists.subarray(at, at + length))) names.push(name)
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
      throw badStateTree(this.#files.folder, error)
    }
  }

  /** The leaves of those keys that have a value. */
  #leavesOf(state: BlockState, names: readonly Uint8Array[]): StateLeaf[] {
    const hashes = this.#hashes
    hashes.clear()
    for (const name of names) {
      const found = state.read(name)
      if (!found) continue
      addStateKey(hashes, name)
      addStateValue(hashes, found.value, found.annotation)
    }
    const count = hashes.count / 2
    const bytes = Uint8Array.from(hashes.flush())
    return Array.from({ length: count }, (_, at) => ({
      keyHash: bytes.subarray(at * LEAF_LENGTH, at * LEAF_LENGTH + HASH_LENGTH),
      valueHash: bytes.subarray(at * LEAF_LENGTH + HASH_LENGTH, (at + 1) * LEAF_LENGTH),
    }))
  }
}

interface PartPlace {
  readonly cut: StoredCut
  readonly part: number
  readonly keyHash: Uint8Array
  /** The siblings above the part, the highest first. */
  readonly siblings: Uint8Array[]
}
