import { Buffer } from 'node:buffer'
import type { ErrorFields } from '@ledger-state/core'
import type { LedgerHasher } from './ledger-hasher.js'
import { type ProvenPage, proveRestPage, type RestPage } from './page-proof.js'
import { proveStateChunk, type StateChunk } from './state-proof.js'
import { type ProvenTransactions, proveTransactionChunk, type TransactionChunk } from './transaction-chunk-proof.js'

// Messages between a thread that proves and the one that waits for it.

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

/** A `LedgerStateError` is sent in parts, because a structured clone of it is a plain `Error`. */
export type ProofReply =
  | { readonly result: ProofResult }
  | { readonly failure: { readonly code: string; readonly message: string; readonly fields: ErrorFields } }
  | { readonly crash: unknown }

export async function runProofJob(job: ProofJob, hasher: LedgerHasher): Promise<ProofResult> {
  if (job.kind === 'page') return proveRestPage(job.page, hasher)
  if (job.kind === 'transactions') return await proveTransactionChunk(job.chunk, hasher, job.held)
  return await proveStateChunk(job.chunk, Buffer.from(job.stateRoot), hasher, job.before)
}
