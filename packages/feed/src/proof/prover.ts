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
  /** As `proveTransactionChunk`. */
  proveTransactions(chunk: TransactionChunk, held: Uint8Array | undefined): Promise<ProvenTransactions>
  /** As `proveStateChunk`. */
  proveState(chunk: StateChunk, stateRoot: Uint8Array, before: Uint8Array | undefined): Promise<Uint8Array>
  /** As `proveRestPage`. */
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

function startThread(salt: string): JobRunner {
  let worker: Worker | undefined
  let isEnding = false
  let queue: Promise<unknown> = Promise.resolve()
  return {
    run(job) {
      const reply = queue.then(async () => {
        if (isEnding) throw proverEnded()
        worker ??= new Worker(WORKER_FILE, { workerData: salt })
        worker.ref()
        try {
          return await ask(worker, job)
        } finally {
          // An idle prover keeps no process alive.
          if (!isEnding) worker.unref()
        }
      })
      queue = reply.catch(() => {})
      return reply
    },
    async end() {
      isEnding = true
      await worker?.terminate()
    },
  }
}

function ask(worker: Worker, job: ProofJob): Promise<ProofResult> {
  return new Promise((resolve, reject) => {
    const settle = (action: () => void) => {
      worker.off('message', onMessage)
      worker.off('error', onError)
      worker.off('exit', onExit)
      action()
    }
    const onError = (error: Error) => settle(() => reject(error))
    const onExit = () => onError(proverEnded())
    const onMessage = (reply: ProofReply) =>
      settle(() => {
        if ('result' in reply) resolve(reply.result)
        else if ('crash' in reply) reject(reply.crash)
        else reject(new LedgerStateError(reply.failure.code, reply.failure.message, reply.failure.fields))
      })
    worker.on('message', onMessage)
    worker.on('error', onError)
    worker.on('exit', onExit)
    worker.postMessage(job)
  })
}
