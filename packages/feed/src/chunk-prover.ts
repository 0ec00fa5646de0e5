import { Buffer } from 'node:buffer'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { type ErrorFields, LedgerStateError } from '@ledger-state/core'
import {
  type ProvenTransactions,
  proveStateChunk,
  proveTransactionChunk,
  type StateChunk,
  type TransactionChunk,
} from './chunk-proof.js'
import type { LedgerHasher } from './ledger-hasher.js'

/** Proves chunks, one after the other, beside the thread that takes in those proven before. */
export interface ChunkProver {
  proveTransactions(chunk: TransactionChunk, held: Uint8Array | undefined): Promise<ProvenTransactions>
  proveState(chunk: StateChunk, stateRoot: Uint8Array, before: Uint8Array | undefined): Promise<Uint8Array>
  close(): Promise<void>
}

export type ProofJob =
  | { readonly kind: 'transactions'; readonly chunk: TransactionChunk; readonly held: Uint8Array | undefined }
  | {
      readonly kind: 'state'
      readonly chunk: StateChunk
      readonly stateRoot: Uint8Array
      readonly before: Uint8Array | undefined
    }

export type ProofReply =
  | { readonly result: ProvenTransactions | Uint8Array }
  | { readonly failure: { readonly code: string; readonly message: string; readonly fields: ErrorFields } }
  | { readonly crash: unknown }

const WORKER_FILE = new URL('./chunk-prover-worker.js', import.meta.url)

/**
 * In a thread of its own where there is more than one core: 1.6 times as many versions a second on two cores.
 * Sources that run without a build have no file for it.
 */
export function createChunkProver(hasher: LedgerHasher): ChunkProver {
  const pays = availableParallelism() > 1 && existsSync(fileURLToPath(WORKER_FILE))
  const run = pays ? createThread(hasher.salt) : { job: (job: ProofJob) => runProofJob(job, hasher), async end() {} }
  return {
    async proveTransactions(chunk, held) {
      return (await run.job({ kind: 'transactions', chunk, held })) as ProvenTransactions
    },
    async proveState(chunk, stateRoot, before) {
      return (await run.job({ kind: 'state', chunk, stateRoot, before })) as Uint8Array
    },
    close: run.end,
  }
}

export function runProofJob(job: ProofJob, hasher: LedgerHasher): Promise<ProvenTransactions | Uint8Array> {
  if (job.kind === 'transactions') return proveTransactionChunk(job.chunk, hasher, job.held)
  return proveStateChunk(job.chunk, Buffer.from(job.stateRoot), hasher, job.before)
}

function createThread(salt: string) {
  const worker = new Worker(WORKER_FILE, { workerData: salt })
  // A prover that nobody waits for keeps no process alive. While it is ended it has to.
  worker.unref()
  let isEnding = false
  let queue: Promise<unknown> = Promise.resolve()
  const job = (message: ProofJob) => {
    const reply = queue.then(async () => {
      if (isEnding) throw ended()
      worker.ref()
      try {
        return await ask(worker, message)
      } finally {
        if (!isEnding) worker.unref()
      }
    })
    queue = reply.catch(() => {})
    return reply
  }
  const end = async () => {
    isEnding = true
    await worker.terminate()
  }
  return { job, end }
}

function ask(worker: Worker, job: ProofJob): Promise<ProvenTransactions | Uint8Array> {
  return new Promise((resolve, reject) => {
    const settle = (action: () => void) => {
      worker.off('message', onMessage)
      worker.off('error', onError)
      worker.off('exit', onExit)
      action()
    }
    const onError = (error: Error) => settle(() => reject(error))
    const onExit = () => onError(ended())
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

function ended(): LedgerStateError {
  return new LedgerStateError('source_failed', 'the thread that proves chunks has ended')
}
