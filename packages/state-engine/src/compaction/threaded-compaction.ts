import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isMainThread, Worker } from 'node:worker_threads'
import { type ErrorFields, LedgerStateError } from '@ledger-state/core'
import { type BlockEntry, storeFailed } from '@ledger-state/engine/authoring'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { SegmentRow } from '../records/segment-rows.js'
import type { LevelMerge, MergedLevel } from './merge-level.js'
import type { PruneStep } from './prune-store.js'
import { type GateMemory, OwnerGate } from './thread-gate.js'

/** Requests to the thread. Steps of a merge are asked for one after the other. */
export type ThreadRequest =
  /** Reads the sealed file that is merged next. */
  | { readonly kind: 'begin'; readonly fileNumber: number }
  /** Reads ahead what the next transaction of the merge will change. */
  | { readonly kind: 'prepare' }
  /** Runs a transaction of the merge. */
  | { readonly kind: 'transact' }
  /** Writes the sealed file into segment files from this number on. */
  | { readonly kind: 'flush'; readonly fileNumber: number; readonly segmentFile: number }
  /** Merges segment files. */
  | { readonly kind: 'level'; readonly merge: LevelMerge }
  /** Ends a merge of segment files. */
  | { readonly kind: 'cancel' }
  /** Runs a transaction of a prune. */
  | { readonly kind: 'prune'; readonly oldest: BlockEntry | undefined; readonly maxEntries: number }

type Kind = ThreadRequest['kind']
export type RequestOf<K extends Kind> = Extract<ThreadRequest, { readonly kind: K }>

export interface MergeProgress {
  readonly isMerged: boolean
  /** Share of the segment that is merged. */
  readonly progress: number
}

interface Results {
  readonly begin: undefined
  readonly prepare: undefined
  readonly transact: MergeProgress
  readonly flush: readonly SegmentRow[]
  /** Undefined if it was cancelled. */
  readonly level: MergedLevel | undefined
  readonly cancel: undefined
  readonly prune: PruneStep
}

type Result = Results[Kind]

/** A request as it is sent: steps of a prune may be asked for while the next transaction of a merge is prepared. */
export interface NumberedRequest {
  readonly number: number
  readonly request: ThreadRequest
}

/** Reply of the thread to a request. A `LedgerStateError` is sent in parts: a clone of it would be a plain `Error`. */
export type ThreadReply = { readonly number: number } & (
  | { readonly result: Result }
  | { readonly failure: { readonly code: string; readonly message: string; readonly fields: ErrorFields } }
  | { readonly crash: unknown }
)

export interface CompactionThreadData extends Pick<LmdbStore, 'path' | 'compressHistory' | 'durability'> {
  readonly mapBytes: number
  readonly memory: GateMemory
}

interface Waiting {
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * URL of the thread's module: in TypeScript if this module is. Undefined in a bundle that lacks the file. In one of
 * CommonJS, modules have no URL.
 */
function threadModule(): URL | undefined {
  const importer: string | undefined = import.meta.url
  if (!importer?.startsWith('file:')) return undefined
  const file = new URL(`./compaction-thread.${importer.endsWith('.ts') ? 'ts' : 'js'}`, importer)
  return existsSync(fileURLToPath(file)) ? file : undefined
}

/**
 * Starts the thread of merges and prunes. Undefined if they stay on the event loop: in a worker thread, which its owner
 * may end at any moment, and in some bundles.
 */
export function startCompactionThread(store: LmdbStore): CompactionThread | undefined {
  const module = isMainThread ? threadModule() : undefined
  try {
    return module && new CompactionThread(module, store)
  } catch {
    // The process may not be allowed to start threads, or not with its own options.
    return undefined
  }
}

/**
 * The thread that merges large segments, and prunes once it runs. It reads the sealed file by itself, and begins a
 * transaction only when it is asked to, so the event loop never waits for LMDB's lock. Nothing ends it within a
 * transaction (`OwnerGate`). Its heap may grow as large as that of the main thread; a segment and its index are outside
 * of the heap.
 */
export class CompactionThread {
  readonly #worker: Worker
  readonly #gate = new OwnerGate()
  readonly #ended: Promise<void>
  readonly #waiting = new Map<number, Waiting>()
  #lastNumber = 0
  /** Whether the thread has ended, or ends after the requests under way. */
  #isClosed = false

  constructor(module: URL, { path, compressHistory, durability, root }: LmdbStore) {
    const { mapSize: mapBytes } = root.getStats()
    const workerData: CompactionThreadData = { path, compressHistory, durability, mapBytes, memory: this.#gate.memory }
    this.#worker = new Worker(module, { workerData })
    this.#gate.watch()
    // The thread keeps the process alive only while a request is under way.
    this.#worker.unref()
    this.#worker.on('message', (reply: ThreadReply) => this.#settle(reply))
    this.#worker.on('error', (crash) => this.#crashAll(crash))
    this.#ended = new Promise((resolve) =>
      this.#worker.once('exit', () => {
        this.#isClosed = true
        this.#gate.forget()
        this.#crashAll(new Error('the thread has ended'))
        resolve()
      }),
    )
  }

  /** Whether the thread accepts requests. */
  get isRunning(): boolean {
    return !this.#isClosed
  }

  setWanted(isWanted: boolean): void {
    this.#gate.setWanted(isWanted)
  }

  /**
   * Sends a request to the thread, and resolves with its result.
   * @throws the error of the work; `store_failed` if the thread has ended, or was closed
   */
  ask<K extends Kind>(request: RequestOf<K>): Promise<Results[K]> {
    if (this.#isClosed) return Promise.reject(storeFailed('the thread of merges and prunes has ended', undefined))
    const number = ++this.#lastNumber
    this.#worker.ref()
    this.#worker.postMessage({ number, request } satisfies NumberedRequest)
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve: (result) => resolve(result as Results[K]), reject })
    })
  }

  /** Ends the thread after all requests so far. Resolves when it has ended. */
  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true
      this.#worker.ref()
      this.#worker.postMessage(undefined)
    }
    await this.#ended
  }

  #settle(reply: ThreadReply): void {
    const waiting = this.#waiting.get(reply.number)
    this.#waiting.delete(reply.number)
    if (!this.#isClosed && this.#waiting.size === 0) this.#worker.unref()
    if (!waiting) return
    if ('result' in reply) waiting.resolve(reply.result)
    else if ('crash' in reply) {
      waiting.reject(storeFailed(`a thread of the store failed: ${String(reply.crash)}`, reply.crash))
    } else waiting.reject(new LedgerStateError(reply.failure.code, reply.failure.message, reply.failure.fields))
  }

  #crashAll(crash: unknown): void {
    for (const number of this.#waiting.keys()) this.#settle({ number, crash })
  }
}
