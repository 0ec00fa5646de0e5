import { Buffer } from 'node:buffer'
import type { LedgerHasher } from '@ledger-state/proof'
import { type ProvenPage, proveRestPage, type RestPage } from './page-proof.js'
import { proveStateChunk, type StateChunk } from './state-proof.js'
import { type ProvenTransactions, proveTransactionChunk, type TransactionChunk } from './transaction-chunk-proof.js'

/** A job for the thread that proves. */
export type ProofJob =
  | { readonly kind: 'transactions'; readonly chunk: TransactionChunk; readonly held: Uint8Array | undefined }
  | {
      readonly kind: 'state'
      readonly chunk: StateChunk
      readonly stateRoot: Uint8Array
      readonly before: Uint8Array | undefined
    }
  | { readonly kind: 'page'; readonly page: RestPage }

export type ProofResult = ProvenTransactions | Uint8Array | ProvenPage

export async function runProofJob(job: ProofJob, hasher: LedgerHasher): Promise<ProofResult> {
  if (job.kind === 'page') return proveRestPage(job.page, hasher)
  if (job.kind === 'transactions') return await proveTransactionChunk(job.chunk, hasher, job.held)
  return await proveStateChunk(job.chunk, Buffer.from(job.stateRoot), hasher, job.before)
}
