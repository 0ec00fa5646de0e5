import { isLedgerStateError } from '@ledger-state/core'
import type { AsyncStateReader, StateEngineReader } from '@ledger-state/engine'
import {
  listStateTrees,
  openStateTree,
  removeOldTrees,
  type StateTreeOptions,
  writeStateTree,
} from '@ledger-state/feed'
import { type CommitMark, decodeCommitMark } from '@ledger-state/records'
import type { StoreStats } from '@ledger-state/state-engine'
import { noCheckpoint, usage } from '../errors.js'
import { formatBytes, formatCount, formatCounted } from '../terminal/amounts.js'
import type { ProgressLine } from '../terminal/progress-line.js'
import { auditedStore } from './audited-store.js'
import { storeBytesAt } from './disk-space.js'
import { nameOfPlace, type StorePlace } from './store-place.js'

/** An engine that shows its number of keys, if it knows it. */
type CountedReader = (StateEngineReader & { readonly stats?: Pick<StoreStats, 'keys'> }) | AsyncStateReader

/** Approximate bytes of the tree for each key: see docs/lab/measurements.md, "What a kept tree of a state costs". */
const BYTES_A_KEY = 67
/** Largest part of a tree's and its store's bytes that a tree may take if it was not asked for, as 1 in this number. */
const CHEAP_PART = 10
/** Size up to which a tree always counts as cheap. */
const SMALL_TREE = 2 ** 20

/** Number of kept trees of signed checkpoints; `auto` keeps the newest one if it is cheap. */
export type KeptTrees = number | 'auto'

/** Trees of signed checkpoints to keep, and their folder. */
export interface TreeSettings {
  readonly kept: KeptTrees
  /** Folder that the operator named, or undefined: see `treeFolderOf`. */
  readonly folder: string | undefined
}

export interface KeepTreeOptions extends TreeSettings, Pick<StateTreeOptions, 'hashSalt' | 'threads' | 'signal'> {
  /** Shows progress. */
  readonly line: ProgressLine
}

/**
 * Folder of the trees of a store.
 * @param given folder that the operator named; without it, a store in a database has none
 */
export function treeFolderOf(place: StorePlace, given: string | undefined): string | undefined {
  return given ?? (place.kind === 'folder' ? place.dataDir : undefined)
}

/**
 * Makes the tree of the newest signed checkpoint of a store, if it is to be kept and does not exist yet. Removes trees
 * that are no longer kept.
 * @returns one line for people; undefined if there was nothing to do and the tree was not asked for
 * @throws `verification_failed` if the state is not the signed one; `no_checkpoint`, `usage` if a tree was asked for
 * and cannot be made
 */
export async function keepTree(
  engine: CountedReader,
  place: StorePlace,
  { kept, folder, line, signal, hashSalt, threads }: KeepTreeOptions,
): Promise<string | undefined> {
  if (kept === 0) return undefined
  const isAsked = kept !== 'auto'
  const store = await auditedStore(engine)
  const name = nameOfPlace(place)
  const mark = decodeCommitMark(store.mark)
  if (await store.isSlice()) {
    if (isAsked) throw noCheckpoint.sliceWithoutTree(name)
    return undefined
  }
  if (!store.isComplete) {
    if (isAsked) throw noCheckpoint.assumedBaseWithoutTree(name)
    return undefined
  }
  const checkpoint = await store.newestCheckpoint()
  if (!checkpoint || checkpoint.version < store.ledger!.oldestVersion) {
    if (isAsked) throw noCheckpoint.inWindow(name)
    return undefined
  }
  if (folder === undefined) {
    if (isAsked) throw usage.noTreeFolder(name)
    return undefined
  }
  if (hasTree(folder, checkpoint.version)) {
    return isAsked ? `the tree of version ${checkpoint.version} is there` : undefined
  }
  const isCheap = isAsked ? () => true : cheapnessIn(place)
  if (!isCheap(mergedKeys(engine))) return dearNotice(checkpoint.version)
  const tooDear = new AbortController()
  const onProgress = (keys: number) => {
    // Keys that were not merged yet had not been counted.
    if (!isCheap(keys)) tooDear.abort()
    line.update((seconds) => {
      const pace = formatCount(Math.round(keys / seconds))
      return `making the tree of version ${checkpoint.version}: ${formatCounted(keys, 'key')}, ${pace} keys/s`
    })
  }
  try {
    const { keys, bytes } = await writeStateTree(store.pages(checkpoint.version), {
      threads,
      hashSalt: hashSalt ?? mark.hashSalt,
      signal: signal ? AbortSignal.any([signal, tooDear.signal]) : tooDear.signal,
      folder,
      checkpoint,
      onProgress,
    })
    removeOldTrees(folder, kept === 'auto' ? 1 : kept)
    return `the tree of version ${checkpoint.version} is kept, for proofs: ${formatCounted(keys, 'key')}, ${formatBytes(bytes)}; ${describeState(checkpoint.version, mark)}`
  } catch (error) {
    if (tooDear.signal.aborted && !signal?.aborted) return dearNotice(checkpoint.version)
    if (!isLedgerStateError(error, 'version_pruned')) throw error
    const pruned = noCheckpoint.prunedMeanwhile(checkpoint.version)
    if (isAsked) throw pruned
    return pruned.message
  } finally {
    line.finish()
  }
}

/** A checkpoint that came from a feed is as trustworthy as the feed. */
function describeState(version: bigint, { signed }: CommitMark): string {
  return signed && signed.version >= version
    ? 'the state is the signed one'
    : 'the state is that of its checkpoint, whose signatures this store has not verified'
}

function dearNotice(version: bigint): string {
  return `no tree of the signed version ${version} is kept, as it would take more than a tenth of the disk: \`ledger-state trust keep-tree\` makes it, for proofs`
}

function hasTree(folder: string, version: bigint): boolean {
  if (!listStateTrees(folder).includes(version)) return false
  try {
    openStateTree(folder, version)?.close()
    return true
  } catch (error) {
    if (isLedgerStateError(error, 'state_tree_damaged')) return false
    throw error
  }
}

/**
 * Returns whether the tree of a number of keys would take less than a tenth of its and the store's bytes; false if the
 * store has no folder.
 */
function cheapnessIn(place: StorePlace): (keys: number) => boolean {
  if (place.kind !== 'folder') return () => false
  const storeBytes = storeBytesAt(place.dataDir)
  return (keys) => {
    const tree = keys * BYTES_A_KEY
    return tree < SMALL_TREE || tree * CHEAP_PART < tree + storeBytes
  }
}

function mergedKeys(engine: CountedReader): number {
  return engine.kind === 'sync' ? (engine.stats?.keys ?? 0) : 0
}
