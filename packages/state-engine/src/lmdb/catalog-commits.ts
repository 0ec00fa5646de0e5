import { isMainThread } from 'node:worker_threads'
import { JobThread, threadModule } from '@ledger-state/core/threads'
import type { TableChange } from './change-recorder.js'
import type { Durability } from './durability.js'
import type { LmdbStore } from './lmdb-store.js'
import { THREAD_ERRORS } from './thread-errors.js'
import { ThreadGate } from './thread-gate.js'

/** Facts that the thread needs to open a catalog. */
export interface OpenCatalog {
  /** Number of the opening in this process. */
  readonly id: number
  readonly path: string
  readonly file: string
  readonly storeId: bigint
  readonly mapBytes: number | undefined
}

export type CatalogJob =
  | { readonly kind: 'start' }
  | {
      readonly kind: 'commit'
      readonly catalog: OpenCatalog
      readonly durability: Durability
      readonly changes: readonly TableChange[]
    }
  | { readonly kind: 'close'; readonly id: number }

type CatalogThread = JobThread<CatalogJob, void>

/** The thread of this process, for the catalogs of all its stores. It starts with the first transaction. */
let thread: Promise<CatalogThread | undefined> | undefined
let lastId = 0

function catalogThread(): Promise<CatalogThread | undefined> {
  thread ??= startThread()
  return thread
}

/**
 * Resolves with undefined if transactions stay on the event loop: in a worker thread, which its owner may end at any moment, in
 * some bundles, and where the thread cannot load its module, as in a test runner that compiles sources by itself.
 */
async function startThread(): Promise<CatalogThread | undefined> {
  const module = isMainThread ? threadModule('catalog-thread', import.meta.url) : undefined
  if (!module) return undefined
  const gate = new ThreadGate()
  // LMDB would keep its mutex if the thread were ended within a transaction, and the process could not end.
  process.on('exit', () => gate.shut())
  const started: CatalogThread = new JobThread(module, { workerData: gate.memory, ...THREAD_ERRORS })
  return await started.run({ kind: 'start' }).then(
    () => started,
    () => undefined,
  )
}

/** Commits transactions of a catalog in another thread, which opens the catalog with the first of them. */
export class CatalogCommits {
  readonly #catalog: OpenCatalog
  #thread: CatalogThread | undefined

  constructor({ path, file, storeId, mapBytes }: Pick<LmdbStore, 'path' | 'file' | 'storeId' | 'mapBytes'>) {
    this.#catalog = { id: ++lastId, path, file, storeId, mapBytes }
  }

  /** Resolves with whether there is a thread. If not, all transactions stay on the event loop. */
  async canCommit(): Promise<boolean> {
    this.#thread = await catalogThread()
    return this.#thread !== undefined
  }

  /**
   * Makes changes in a transaction, if `canCommit`. Resolves when it is as durable as it should be. After a failure, the next
   * transaction tries again to open the catalog, and starts the thread again if it has ended.
   * @throws `store_missing`, `store_corrupt`, `store_full`, `store_failed`
   */
  async commit(durability: Durability, changes: readonly TableChange[]): Promise<void> {
    await this.#thread!.run({ kind: 'commit', catalog: this.#catalog, durability, changes })
  }

  /** Makes the thread close the catalog. A thread that cannot has ended, so it has no catalog open. */
  async close(): Promise<void> {
    await this.#thread?.run({ kind: 'close', id: this.#catalog.id }).catch(() => {})
  }
}
