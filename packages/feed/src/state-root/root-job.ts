import { HashBatch, LedgerHasher, type LedgerHasherOptions, PartTree } from '@ledger-state/proof'
import { hashEntries } from './entry-batch.js'
import type { Subtree } from './fold-leaves.js'
import { foldPart } from './fold-part.js'
import { foldTreePart, type TreePart } from './tree-part.js'

/** A job for the threads that compute a state root. */
export type RootJob =
  | { readonly kind: 'hash'; readonly batch: Uint8Array }
  | { readonly kind: 'fold'; readonly leaves: Uint8Array; readonly depth: number }
  | { readonly kind: 'tree'; readonly leaves: Uint8Array; readonly depth: number; readonly bottom: number }

export type RootResult = Uint8Array<ArrayBuffer> | Subtree | TreePart

/** Bytes of messages that are hashed at once. */
const HASHES_LENGTH = 2 ** 20

/** What runs jobs: one for each thread. */
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
      if (job.kind === 'hash') {
        hashes ??= new HashBatch(hasher, HASHES_LENGTH)
        return hashEntries(hashes, job.batch)
      }
      if (job.kind === 'fold') {
        tree ??= new PartTree(hasher, job.depth)
        return foldPart(tree, job.leaves, job.depth)
      }
      return foldTreePart(hasher, job.leaves, job.depth, job.bottom)
    },
  }
}

/** The buffers of a result, which are transferred with it. */
export function buffersOf(result: RootResult): ArrayBuffer[] {
  if (result instanceof Uint8Array) return [result.buffer]
  return 'leaves' in result ? [result.leaves.buffer, result.nodes.buffer, result.counts.buffer] : []
}
