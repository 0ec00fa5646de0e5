import { Buffer } from 'node:buffer'
import type { ErrorFields } from '@ledger-state/core'
import type { LedgerHasher } from './ledger-hasher.js'
import { proveStateChunk, type StateChunk } from './state-proof.js'
import { type ProvenTransactions, proveTransactionChunk, type TransactionChunk } from './transaction-chunk-proof.js'

// Messages between a thread that proves chunks and the one that waits for them.

export type ProofJob =
  | { readonly kind: 'transactions'; readonly chunk: TransactionChunk; readonly held: Uint8Array | undefined }
  | {
      readonly kind: 'state'
      readonly chunk: StateChunk
      readonly stateRoot: Uint8Array
      readonly before: Uint8Array | undefined
    }

/** A `LedgerStateError` is sent in parts, because a structured clone of it is a plain `Error`. */
export type ProofReply =
  | { readonly result: ProvenTransactions | Uint8Array }
  | { readonly failure: { readonly code: string; readonly message: string; readonly fields: ErrorFields } }
  | { readonly crash: unknown }

export function runProofJob(job: ProofJob, hasher: LedgerHasher): Promise<ProvenTransactions | Uint8Array> {
  if (job.kind === 'transactions') return proveTransactionChunk(job.chunk, hasher, job.held)
  return proveStateChunk(job.chunk, Buffer.from(job.stateRoot), hasher, job.before)
}
