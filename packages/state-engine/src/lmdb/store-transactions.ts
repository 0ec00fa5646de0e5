import { storeClosed } from '@ledger-state/engine/authoring'
import { CatalogCommits } from './catalog-commits.js'
import type { Durability } from './durability.js'
import type { LmdbStore } from './lmdb-store.js'
import { withStoreErrorsAsync } from './store-errors.js'
import { runTransaction, tryTransaction } from './write-transaction.js'

/**
 * Runs the write transactions of the writer of a store. Those that wait for the disk are committed in another thread: the work
 * is done here, in a transaction that is undone, and its changes are made there. Nobody else changes the catalog in between.
 */
export class StoreTransactions {
  readonly #store: LmdbStore
  readonly #commits: CatalogCommits
  readonly #onEnd: () => void
  #isTaken = false
  #isClosed = false
  #waiting: (() => void)[] = []

  /**
   * Starts without transactions.
   * @param onEnd called after each transaction, even one that failed, so that reads of this engine see its writes
   */
  constructor(store: LmdbStore, onEnd: () => void) {
    this.#store = store
    this.#commits = new CatalogCommits(store)
    this.#onEnd = onEnd
  }

  /**
   * Durability of transactions that WAL files depend on: the merged data of a file must be on disk before the file is
   * removed.
   */
  get ofLog(): Durability {
    return this.#store.durability === 'none' ? 'none' : 'full'
  }

  /**
   * Runs work that has write transactions, after all work that was asked for before; at once
   * if there is none. So nothing waits for LMDB's lock, which would stop the event loop.
   */
  async inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#isTaken) {
      const turn = new Promise<void>((resolve) => this.#waiting.push(resolve))
      await turn
    }
    this.#isTaken = true
    try {
      if (this.#isClosed) throw storeClosed()
      return await work()
    } finally {
      const next = this.#waiting.shift()
      // The turn passes directly to the next, so that no other work comes between.
      if (next) next()
      else this.#isTaken = false
    }
  }

  /**
   * Runs work in a write transaction, in turn. An error of the work undoes all of it. The work may be run again, and
   * must then do the same.
   * @throws `store_missing`, `store_full`, `store_failed`
   */
  run<T>(durability: Durability, work: () => T): Promise<T> {
    return this.inTurn(() => this.runInTurn(durability, work))
  }

  /** Works like `run`, for a caller that already has the turn. */
  async runInTurn<T>(durability: Durability, work: () => T): Promise<T> {
    const { path, root, sync, recorder } = this.#store
    this.#store.expectInPlace()
    try {
      return await withStoreErrorsAsync(path, async () => {
        await sync.regainMeta()
        if (durability === 'none' || !(await this.#commits.canCommit())) return runTransaction(root, durability, work)
        const { result, changes } = recorder.record(() => tryTransaction(root, work))
        if (changes.length > 0) await this.#commits.commit(durability, changes)
        return result
      })
    } catch (error) {
      this.#doubt()
      throw error
    } finally {
      this.#onEnd()
    }
  }

  /** Ends work that waits for its turn. Resolves when the work that has the turn is over. */
  async close(): Promise<void> {
    await this.inTurn(() => {
      this.#isClosed = true
    })
    await this.#commits.close()
  }

  /**
   * Makes all transactions so far durable, after work that makes durable the files they name. No other transaction
   * comes between.
   * @throws `store_full`, `store_failed`
   */
  async syncAfter(work: () => Promise<void>): Promise<void> {
    const { path, sync } = this.#store
    await this.inTurn(() =>
      withStoreErrorsAsync(path, async () => {
        await work()
        await (sync.isInDoubt ? sync.regain() : this.#syncDataFile())
      }),
    )
  }

  /** Makes all transactions so far durable. @throws `store_full`, `store_failed` */
  async sync(): Promise<void> {
    const { path, sync } = this.#store
    await withStoreErrorsAsync(path, () => (sync.isInDoubt ? this.inTurn(() => sync.regain()) : this.#syncDataFile()))
  }

  async #syncDataFile(): Promise<void> {
    const { root, sync } = this.#store
    const error = await new Promise<Error | null | undefined>((resolve) => root.sync(resolve))
    if (!error) return
    sync.doubt()
    throw error
  }

  /** Called after a transaction failed, perhaps because of a sync. With the durability `none` transactions have none. */
  #doubt(): void {
    if (this.#store.durability !== 'none') this.#store.sync.doubt()
  }
}
