import { HashBatch, LedgerHasher, type LedgerHasherOptions, PartTree } from '@ledger-state/proof'
import { hashEntries } from './entry-batch.js'
import type { Subtree } from './fold-leaves.js'
import { foldPart } from './fold-part.js'
import type { KeyLists } from './keys-file.js'
import { mergeKeys } from './merge-keys.js'
import { type PartRoots, type ReplayedPart, replayPart, type SubtreeRoots } from './replay-part.js'
import { foldTreePart, type TreePart } from './tree-part.js'
import { hashNamedWrites, hashWrites, type NamedWrites } from './write-batch.js'

/** A job for the threads that compute a state root. */
export type RootJob =
  | { readonly kind: 'hash'; readonly batch: Uint8Array }
  | { readonly kind: 'writes'; readonly batch: Uint8Array; readonly isNamed: boolean }
  | { readonly kind: 'keys'; readonly before: KeyLists; readonly named: Uint8Array }
  | ({ readonly kind: 'replay' } & ReplayedPart)
  | { readonly kind: 'fold'; readonly leaves: Uint8Array; readonly depth: number }
  | { readonly kind: 'tree'; readonly leaves: Uint8Array; readonly depth: number; readonly bottom: number }

export type RootResult = Uint8Array<ArrayBuffer> | Subtree | TreePart | PartRoots | NamedWrites | KeyLists

/** Bytes of messages that are hashed at once. */
const HASHES_LENGTH = 2 ** 20

/** Runs jobs: one for each thread. */
export interface RootWork {
  run(job: RootJob): RootResult
}

/** @param salt the word before the name of each hash */
export function createRootWork(salt: string, options?: LedgerHasherOptions): RootWork {
  const hasher = new LedgerHasher(salt, options)
  let hashes: HashBatch | undefined
  let tree: PartTree | undefined
  return {
    run(job) {
      if (job.kind === 'hash' || job.kind === 'writes') {
        hashes ??= new HashBatch(hasher, HASHES_LENGTH)
        if (job.kind === 'hash') return hashEntries(hashes, job.batch)
        return job.isNamed ? hashNamedWrites(hashes, job.batch) : hashWrites(hashes, job.batch)
      }
      if (job.kind === 'keys') return mergeKeys(job.before, job.named)
      if (job.kind === 'fold' || job.kind === 'replay') {
        tree ??= new PartTree(hasher, job.depth)
        if (job.kind === 'fold') return foldPart(tree, job.leaves, job.depth)
        return replayPart(tree, job)
      }
      return foldTreePart(hasher, job.leaves, job.depth, job.bottom)
    },
  }
}

/** The buffers of a result, which are transferred with it. */
export function buffersOf(result: RootResult): ArrayBuffer[] {
  if (result instanceof Uint8Array) return [result.buffer]
  if ('hashed' in result) return [result.hashed.buffer, result.keys.buffer]
  if ('lists' in result) return [result.lists.buffer, result.lengths.buffer]
  if ('whole' in result) {
    const { whole, cut, leaves } = result
    return [...buffersOfRoots(whole), ...(cut ? buffersOfRoots(cut) : []), leaves.buffer]
  }
  return 'leaves' in result ? [result.leaves.buffer, result.nodes.buffer, result.counts.buffer] : []
}

function buffersOfRoots({ blocks, subtrees, kinds, roots }: SubtreeRoots): ArrayBuffer[] {
  return [blocks.buffer, subtrees.buffer, kinds.buffer, roots.buffer]
}
