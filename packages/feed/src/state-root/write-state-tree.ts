import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { isSystemError, makeTemporaryFolder, moveDurably, type TemporaryFolder } from '@ledger-state/core/files'
import {
  checkCheckpoint,
  DEFAULT_HASH_SALT,
  expectHash,
  LedgerHasher,
  type SignedCheckpoint,
} from '@ledger-state/proof'
import { spillFailed } from '../errors.js'
import { joinAll, LEAF_LENGTH, type Subtree, subtreeRoot } from './fold-leaves.js'
import { type EntryPages, hashPages } from './hash-pages.js'
import { LeafStore, PART_DEPTH, PARTS, ROOT_PREFIX } from './leaf-store.js'
import { RootThreads } from './root-threads.js'
import { DEFAULT_ROOT_MEMORY, type StateRootOptions } from './state-root.js'
import { descriptionToBytes } from './tree-description.js'
import { treeFileName } from './tree-files.js'
import { depthOf, HEADER_LENGTH, MAX_TREE_KEYS, TREE_MAGIC, type TreeLayout, treeLayoutOf } from './tree-layout.js'
import type { TreePart } from './tree-part.js'

/** Parts that are folded while another is written. */
const PARTS_AHEAD = 4

/** Options for writing the tree of a state. */
export interface StateTreeOptions extends Omit<StateRootOptions, 'spillFolder'> {
  /** An existing folder for the tree's file and for temporary files, which are removed in the end. */
  readonly folder: string
  /** The checkpoint of the state's version, which the file holds. */
  readonly checkpoint: SignedCheckpoint
}

/** Description of a tree that was written. */
export interface WrittenTree {
  readonly path: string
  readonly keys: number
  readonly bytes: number
}

/**
 * Writes the sparse Merkle tree of a state as a file, from which `openStateTree` reads the paths of keys. The file gets
 * its name once it is whole and synced; it replaces a file of the same version. Memory is bounded as in
 * `computeStateRoot`.
 * @param pages entries of the state in groups of a few hundred or thousand, in any order
 * @throws `verification_failed` if the root of the state is not the checkpoint's, or a key comes twice; `spill_failed`
 * if files cannot be written
 */
export async function writeStateTree(pages: EntryPages, options: StateTreeOptions): Promise<WrittenTree> {
  const { folder, checkpoint, memoryBytes = DEFAULT_ROOT_MEMORY, hashSalt = DEFAULT_HASH_SALT } = options
  const hasher = new LedgerHasher(hashSalt)
  const { stateRoot } = checkCheckpoint(hasher, checkpoint)
  const threads = new RootThreads(hashSalt, options.threads)
  const leaves = new LeafStore(memoryBytes, folder)
  let own: TemporaryFolder | undefined
  try {
    const keys = await hashPages(pages, threads, leaves, options)
    if (keys > MAX_TREE_KEYS) throw spillFailed.tooManyKeys(keys, MAX_TREE_KEYS)
    own = makeFolder(folder)
    const draft = join(own.path, 'tree')
    const bytes = await writeDraft(draft, { ...options, hasher, pool: threads, leaves, keys }, stateRoot)
    const path = join(folder, treeFileName(checkpoint.version))
    await moveIntoPlace(folder, draft, path)
    return { path, keys, bytes }
  } finally {
    await threads.close()
    await leaves.close()
    await own?.remove()
  }
}

interface Draft extends StateTreeOptions {
  readonly hasher: LedgerHasher
  readonly pool: RootThreads
  readonly leaves: LeafStore
  readonly keys: number
}

/**
 * Writes the whole file of a tree.
 * @returns the length of the file
 */
async function writeDraft(path: string, draft: Draft, stateRoot: Uint8Array): Promise<number> {
  const { keys, checkpoint, folder, hasher } = draft
  const description = descriptionToBytes({ hashSalt: hasher.salt, checkpoint })
  const layout = treeLayoutOf(keys, depthOf(keys), description.length)
  try {
    const file = await open(path, 'wx')
    try {
      const parts = await writeParts(file, layout, draft)
      const root = await writeTop(file, layout, parts, draft)
      expectHash(`the state root of version ${checkpoint.version}`, root, stateRoot)
      await writeAt(file, headerOf(checkpoint.version, keys, layout.depth, description.length, root), 0)
      await writeAt(file, description, HEADER_LENGTH)
    } finally {
      await file.close()
    }
  } catch (error) {
    throw isSystemError(error) ? spillFailed.cannotSpill(folder, error) : error
  }
  return layout.length
}

/**
 * Writes all parts.
 * @returns the roots of the parts
 */
async function writeParts(file: FileHandle, layout: TreeLayout, draft: Draft): Promise<Subtree[]> {
  const { pool, leaves, signal } = draft
  const roots: Subtree[] = []
  const pending: Promise<TreePart>[] = []
  let before = 0
  const writeNext = async (): Promise<void> => {
    const index = roots.length
    const part = await pending.shift()!
    await writePart(file, layout, index, part, before)
    before += part.leaves.length / LEAF_LENGTH
    roots.push(part.subtree)
  }
  try {
    for (let index = 0; index < PARTS; index++) {
      await pool.ready()
      signal?.throwIfAborted()
      const job = {
        kind: 'tree',
        leaves: await leaves.take(index),
        depth: PART_DEPTH,
        bottom: layout.depth,
      } as const
      pending.push(pool.run(job) as Promise<TreePart>)
      if (pending.length > PARTS_AHEAD) await writeNext()
    }
    while (pending.length > 0) await writeNext()
  } finally {
    await Promise.allSettled(pending)
  }
  await writeAt(file, new Uint8Array(Uint32Array.of(before).buffer), layout.startAt(2 ** layout.depth))
  return roots
}

/**
 * Writes one part.
 * @param before number of leaves in the parts before
 */
async function writePart(
  file: FileHandle,
  layout: TreeLayout,
  index: number,
  { leaves, nodes, counts }: TreePart,
  before: number,
): Promise<void> {
  await writeAt(file, leaves, layout.leafAt(before))
  let taken = 0
  for (let level = PART_DEPTH; level <= layout.depth; level++) {
    const width = 2 ** (level - PART_DEPTH)
    const length = width * 32
    await writeAt(file, nodes.subarray(taken, taken + length), layout.nodeAt(level, index * width))
    taken += length
  }
  const starts = new DataView(new ArrayBuffer(counts.length * 4))
  let start = before
  for (const [at, count] of counts.entries()) {
    starts.setUint32(at * 4, start, true)
    start += count
  }
  await writeAt(file, new Uint8Array(starts.buffer), layout.startAt(index * counts.length))
}

/**
 * Writes the nodes above the parts.
 * @returns the root of the state
 */
async function writeTop(
  file: FileHandle,
  layout: TreeLayout,
  parts: readonly Subtree[],
  { hasher }: Draft,
): Promise<Uint8Array> {
  const nodes: { readonly place: number; readonly hash: Uint8Array }[] = []
  const root = joinAll(hasher, parts, (above, index, hash) => {
    nodes.push({ place: layout.nodeAt(PART_DEPTH - above, index), hash })
  })
  for (const { place, hash } of nodes) await writeAt(file, hash, place)
  return subtreeRoot(root)
}

function headerOf(
  version: bigint,
  keys: number,
  depth: number,
  descriptionLength: number,
  root: Uint8Array,
): Uint8Array {
  const header = new Uint8Array(HEADER_LENGTH)
  const view = new DataView(header.buffer)
  header.set(TREE_MAGIC)
  view.setBigUint64(8, version, true)
  view.setUint32(16, keys, true)
  view.setUint32(20, depth, true)
  view.setUint32(24, descriptionLength, true)
  header.set(root, 32)
  return header
}

async function writeAt(file: FileHandle, bytes: Uint8Array, place: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, place + done)).bytesWritten
  }
}

function makeFolder(folder: string): TemporaryFolder {
  try {
    return makeTemporaryFolder(folder, ROOT_PREFIX)
  } catch (error) {
    throw spillFailed.cannotSpill(folder, error)
  }
}

async function moveIntoPlace(folder: string, draft: string, path: string): Promise<void> {
  try {
    await moveDurably(draft, path)
  } catch (error) {
    throw spillFailed.cannotSpill(folder, error)
  }
}
