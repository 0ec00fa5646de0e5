import { availableParallelism } from 'node:os'
import type { LedgerHasher } from '@ledger-state/proof'
import { idlest, JobThread, threadModule } from '../threads/job-thread.js'
import type { ProvenPage, RestPage } from './page-proof.js'
import { type ProofJob, type ProofResult, runProofJob } from './proof-job.js'
import type { StateChunk } from './state-proof.js'
import type { ProvenTransactions, TransactionChunk } from './transaction-chunk-proof.js'

/** Proves chunks and pages while the caller reads those proven before. */
export interface Prover {
  /** Jobs that are worth having under way at the same time. */
  readonly width: number
  /** Same as `proveTransactionChunk`. */
  proveTransactions(chunk: TransactionChunk, held: Uint8Array | undefined): Promise<ProvenTransactions>
  /** Same as `proveStateChunk`. */
  proveState(chunk: StateChunk, stateRoot: Uint8Array, before: Uint8Array | undefined): Promise<Uint8Array>
  /** Same as `proveRestPage`. */
  provePage(page: RestPage): Promise<ProvenPage>
  close(): Promise<void>
}

const PROVER_WORKER = threadModule('prover-worker', import.meta.url)

/** One thread that reads takes what four prove, also where it stores little of it. */
const MOST_THREADS = 4

/**
 * @param thread whether to prove in other threads, of which the second starts when two jobs are under way. Not followed where there is
 *   one core, nor in a bundle that lacks the thread's module.
 */
export function createProver(hasher: LedgerHasher, thread = true): Prover {
  const cores = Math.min(availableParallelism(), MOST_THREADS)
  const module = thread && cores > 1 ? PROVER_WORKER : undefined
  const threads = module ? Array.from({ length: cores }, () => new JobThread<ProofJob, ProofResult>(module, hasher.salt)) : []
  const run = (job: ProofJob): Promise<ProofResult> =>
    threads.length > 0 ? idlest(threads).run(job) : runProofJob(job, hasher)
  return {
    width: Math.max(1, threads.length),
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
      await Promise.all(threads.map((one) => one.close()))
    },
  }
}
