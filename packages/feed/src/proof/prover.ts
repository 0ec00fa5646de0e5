import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { LedgerStateError } from '@ledger-state/core'
import { proverEnded } from '../errors.js'
import type { LedgerHasher } from './ledger-hasher.js'
import type { ProvenPage, RestPage } from './page-proof.js'
import { type ProofJob, type ProofReply, type ProofResult, runProofJob } from './proof-job.js'
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

interface JobRunner {
  run(job: ProofJob): Promise<ProofResult>
  end(): Promise<void>
}

/** The thread runs sources where this module is one: `Worker` passes on the options of the process that loads them. */
const isSource = import.meta.url.endsWith('.ts')
const WORKER_FILE = new URL(isSource ? './prover-worker.ts' : './prover-worker.js', import.meta.url)

/**
 * @param thread whether to prove in a thread of its own: 1.6 times as many versions a second on two cores. Not followed
 *   where there is one core, nor in a bundle that lacks the thread's file.
 */
export function createProver(hasher: LedgerHasher, thread = true): Prover {
  const hasThread = thread && availableParallelism() > 1 && existsSync(fileURLToPath(WORKER_FILE))
  const runner = hasThread ? startThread(hasher.salt) : createLocalRunner(hasher)
  return {
    async proveTransactions(chunk, held) {
      return (await runner.run({ kind: 'transactions', chunk, held })) as ProvenTransactions
    },
    async proveState(chunk, stateRoot, before) {
      return (await runner.run({ kind: 'state', chunk, stateRoot, before })) as Uint8Array
    },
    async provePage(page) {
      return (await runner.run({ kind: 'page', page })) as ProvenPage
    },
    close: runner.end,
  }
}

function createLocalRunner(hasher: LedgerHasher): JobRunner {
  return { run: (job) => runProofJob(job, hasher), async end() {} }
}

interface PendingJob {
  resolve(result: ProofResult): void
  reject(error: unknown): void
}

/** Jobs are sent at once and wait in the thread, so that it has the next one while this thread is busy. */
function startThread(salt: string): JobRunner {
  /** The thread replies in the order of the jobs. */
  const pending: PendingJob[] = []
  let worker: Worker | undefined
  let isEnding = false

  function fail(error: unknown): void {
    for (const { reject } of pending.splice(0)) reject(error)
  }

  function start(): Worker {
    const started = new Worker(WORKER_FILE, { workerData: salt })
    started.on('message', (reply: ProofReply) => {
      settle(pending.shift()!, reply)
      // An idle prover keeps no process alive. One that is ending does, until it has ended.
      if (pending.length === 0 && !isEnding) started.unref()
    })
    started.on('error', fail)
    started.on('exit', () => {
      if (worker === started) worker = undefined
      fail(proverEnded())
    })
    return started
  }

  return {
    run(job) {
      if (isEnding) return Promise.reject(proverEnded())
      worker ??= start()
      worker.ref()
      worker.postMessage(job)
      return new Promise((resolve, reject) => pending.push({ resolve, reject }))
    },
    async end() {
      isEnding = true
      await worker?.terminate()
    },
  }
}

function settle({ resolve, reject }: PendingJob, reply: ProofReply): void {
  if ('result' in reply) resolve(reply.result)
  else if ('crash' in reply) reject(reply.crash)
  else reject(new LedgerStateError(reply.failure.code, reply.failure.message, reply.failure.fields))
}
