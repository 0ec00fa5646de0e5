import { availableParallelism } from 'node:os'
import { idlest, type JobThread, threadModule } from '@ledger-state/core/threads'
import type { LedgerHasher } from '@ledger-state/proof'
import { createJobThread } from '../threads/create-job-thread.js'
import type { ProvenPage, RestPage } from './page-proof.js'
import { type ProofJob, type ProofResult, runProofJob } from './proof-job.js'
import type { StateChunk } from './state-proof.js'
import type { ProvenTransactions, TransactionChunk } from './transaction-chunk-proof.js'

/** Proves chunks and pages while the caller reads those that were proven before. */
export interface Prover {
  /**
   * Adds a thread, so that one more job is under way at the same time. Returns false if more threads would be of no
   * use.
   */
  widen(): boolean
  /** Same as `proveTransactionChunk`. */
  proveTransactions(chunk: TransactionChunk, held: Uint8Array | undefined): Promise<ProvenTransactions>
  /** Same as `proveStateChunk`. */
  proveState(chunk: StateChunk, stateRoot: Uint8Array, before: Uint8Array | undefined): Promise<Uint8Array>
  /** Same as `proveRestPage`. */
  provePage(page: RestPage): Promise<ProvenPage>
  close(): Promise<void>
}

const PROVER_WORKER = threadModule('prover-worker', import.meta.url)

/** Most threads. One thread that reads takes no more than four can prove, even if it stores little of it. */
const MOST_THREADS = 4

/**
 * Creates a prover.
 * @param thread whether to prove in another thread, and in more threads if `widen` asks for them: 1.6 times as many versions a
 * second on two cores. Ignored on one core, and in a bundle that lacks the thread's module.
 */
export function createProver(hasher: LedgerHasher, thread = true): Prover {
  const cores = availableParallelism()
  const module = thread && cores > 1 ? PROVER_WORKER : undefined
  const threads: JobThread<ProofJob, ProofResult>[] = []
  const widen = (): boolean => {
    if (!module || threads.length >= Math.min(cores, MOST_THREADS)) return false
    threads.push(createJobThread(module, hasher.salt))
    return true
  }
  widen()
  const run = (job: ProofJob): Promise<ProofResult> => (module ? idlest(threads).run(job) : runProofJob(job, hasher))
  return {
    widen,
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
