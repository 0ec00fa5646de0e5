import { availableParallelism } from 'node:os'
import type { LedgerHasher } from '@ledger-state/proof'
import { JobThread, threadModule } from '../threads/job-thread.js'
import type { ProvenPage, RestPage } from './page-proof.js'
import { type ProofJob, type ProofResult, runProofJob } from './proof-job.js'
import type { StateChunk } from './state-proof.js'
import type { ProvenTransactions, TransactionChunk } from './transaction-chunk-proof.js'

/** Proves chunks and pages, one after the other, while the caller reads those proven before. */
export interface Prover {
  /** Same as `proveTransactionChunk`. */
  proveTransactions(chunk: TransactionChunk, held: Uint8Array | undefined): Promise<ProvenTransactions>
  /** Same as `proveStateChunk`. */
  proveState(chunk: StateChunk, stateRoot: Uint8Array, before: Uint8Array | undefined): Promise<Uint8Array>
  /** Same as `proveRestPage`. */
  provePage(page: RestPage): Promise<ProvenPage>
  close(): Promise<void>
}

const PROVER_WORKER = threadModule('prover-worker', import.meta.url)

/**
 * @param thread whether to prove in a separate thread: 1.6 times as many versions a second on two cores. Not followed
 *   where there is one core, nor in a bundle that lacks the thread's module.
 */
export function createProver(hasher: LedgerHasher, thread = true): Prover {
  const module = thread && availableParallelism() > 1 ? PROVER_WORKER : undefined
  const worker = module && new JobThread<ProofJob, ProofResult>(module, hasher.salt)
  const run = (job: ProofJob): Promise<ProofResult> => (worker ? worker.run(job) : runProofJob(job, hasher))
  return {
    async proveTransactions(chunk, held) {
      return (await run({ kind: 'transactions', chunk, held })) as ProvenTransactions
    },
    async proveState(chunk, stateRoot, before) {
      return (await run({ kind: 'state', chunk, stateRoot, before })) as Uint8Array
    },
    async provePage(page) {
      return (await run({ kind: 'page', page })) as ProvenPage
    },
    async close() {
      await worker?.close()
    },
  }
}
