import type { LedgerHasher } from '@ledger-state/proof'
import { hashEntries } from './entry-batch.js'
import { foldLeaves, type Subtree } from './fold-leaves.js'
import { foldTreePart, type TreePart } from './tree-part.js'

/** A job for the threads that compute a state root. */
export type RootJob =
  | { readonly kind: 'hash'; readonly batch: Uint8Array }
  | { readonly kind: 'fold'; readonly leaves: Uint8Array; readonly depth: number }
  | { readonly kind: 'tree'; readonly leaves: Uint8Array; readonly depth: number; readonly bottom: number }

export type RootResult = Uint8Array<ArrayBuffer> | Subtree | TreePart

export function runRootJob(job: RootJob, hasher: LedgerHasher): RootResult {
  if (job.kind === 'hash') return hashEntries(hasher, job.batch)
  if (job.kind === 'fold') return foldLeaves(hasher, job.leaves, job.depth)
  return foldTreePart(hasher, job.leaves, job.depth, job.bottom)
}

/** The buffers of a result, which are transferred with it. */
export function buffersOf(result: RootResult): ArrayBuffer[] {
  if (result instanceof Uint8Array) return [result.buffer]
  return 'leaves' in result ? [result.leaves.buffer, result.nodes.buffer, result.counts.buffer] : []
}
