import type { LedgerHasher } from '@ledger-state/proof'
import { hashEntries } from './entry-batch.js'
import { foldLeaves, type Subtree } from './fold-leaves.js'

/** A job of the threads that compute a state root. */
export type RootJob =
  | { readonly kind: 'hash'; readonly batch: Uint8Array }
  | { readonly kind: 'fold'; readonly leaves: Uint8Array; readonly depth: number }

export type RootResult = Uint8Array<ArrayBuffer> | Subtree

export function runRootJob(job: RootJob, hasher: LedgerHasher): RootResult {
  return job.kind === 'hash' ? hashEntries(hasher, job.batch) : foldLeaves(hasher, job.leaves, job.depth)
}
