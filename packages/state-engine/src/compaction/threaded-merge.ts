import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isMainThread, Worker } from 'node:worker_threads'
import { type ErrorFields, LedgerStateError } from '@ledger-state/core'
import { storeFailed } from '@ledger-state/engine/authoring'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { type GateMemory, OwnerGate } from './thread-gate.js'

export type MergeRequest =
  | { readonly kind: 'begin'; readonly fileNumber: number }
  | { readonly kind: 'prepare' }
  | { readonly kind: 'transact' }

/** Reply of the thread to a request. A `LedgerStateError` is sent in parts: a clone of it would be a plain `Error`. */
export type MergeReply =
  | { readonly isMerged: boolean; readonly progress: number }
  | { readonly failure: { readonly code: string; readonly message: string; readonly fields: ErrorFields } }
  | { readonly crash: unknown }

export interface MergeThreadData extends Pick<LmdbStore, 'path' | 'compressHistory' | 'durability'> {
  readonly mapBytes: number
  readonly memory: GateMemory
}

interface Waiting {
  resolve(reply: Extract<MergeReply, { readonly isMerged: boolean }>): void
  reject(error: unknown): void
}

/** URL of the thread's module: in TypeScript if this module is. Undefined in a bundle that lacks the file. */
function threadModule(): URL | undefined {
  const file = new URL(`./merge-thread.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)
  return existsSync(fileURLToPath(file)) ? file : undefined
}

/**
 * Starts the thread of merges. Undefined if merges stay on the event loop: in a worker thread, which its owner may end
 * at any moment, and in some bundles.
 */
export function startMergeThread(store: LmdbStore): MergeThread | undefined {
  const module = isMainThread ? threadModule() : undefined
  try {
    return module && new MergeThread(module, store)
  } catch {
    // The process may not be allowed to start threads, or not with its own options.
    return undefined
  }
}

/**
 * The thread that merges large segments. It reads the sealed file by itself, and begins a transaction only when it is
 * asked to, so the event loop never waits for LMDB's lock. Nothing ends it within a transaction (`OwnerGate`). Its heap
 * may grow as large as that of the main thread; a segment and its index are outside of the heap.
 */
export class MergeThread {
  readonly #worker: Worker
  readonly #gate = new OwnerGate()
  readonly #ended: Promise<void>
  #waiting: Waiting | undefined
  #hasEnded = false

  constructor(module: URL, { path, compressHistory, durability, root }: LmdbStore) {
    const { mapSize: mapBytes } = root.getStats()
    const workerData: MergeThreadData = { path, compressHistory, durability, mapBytes, memory: this.#gate.memory }
    this.#worker = new Worker(module, { workerData })
    this.#gate.watch()
    // The thread keeps the process alive only while a request is under way.
    this.#worker.unref()
    this.#worker.on('message', (reply: MergeReply) => this.#settle(reply))
    this.#worker.on('error', (error) => this.#settle({ crash: error }))
    this.#ended = new Promise((resolve) =>
      this.#worker.once('exit', () => {
        this.#hasEnded = true
        this.#gate.forget()
        this.#settle({ crash: new Error('the thread of merges has ended') })
        resolve()
      }),
    )
  }

  /** Whether the thread accepts requests. */
  get isRunning(): boolean {
    return !this.#hasEnded
  }

  setWanted(isWanted: boolean): void {
    this.#gate.setWanted(isWanted)
  }

  /**
   * Sends a request to the thread, and resolves with its result.
   * @throws the error of the work; `store_failed` if the thread has ended
   */
  ask(request: MergeRequest): Promise<{ readonly isMerged: boolean; readonly progress: number }> {
    if (this.#hasEnded) return Promise.reject(storeFailed('the thread of merges has ended', undefined))
    this.#worker.ref()
    this.#worker.postMessage(request)
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  /** Ends the thread. Call it when no request is under way. Resolves when the thread has ended. */
  async close(): Promise<void> {
    if (this.#hasEnded) return
    this.#worker.ref()
    this.#worker.postMessage(undefined)
    await this.#ended
  }

  #settle(reply: MergeReply): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (!this.#hasEnded) this.#worker.unref()
    if (!waiting) return
    if ('isMerged' in reply) waiting.resolve(reply)
    else if ('crash' in reply) waiting.reject(storeFailed(`a merge failed: ${String(reply.crash)}`, reply.crash))
    else waiting.reject(new LedgerStateError(reply.failure.code, reply.failure.message, reply.failure.fields))
  }
}
