import { storeClosed } from '@ledger-state/engine/authoring'
import type { Durability } from './durability.js'
import { type LmdbStore, withStoreErrors, withStoreErrorsAsync } from './lmdb-store.js'
import { runTransaction } from './write-transaction.js'

/** Runs the write transactions of the writer of a store. */
export class StoreTransactions {
  readonly #store: LmdbStore
  readonly #onEnd: () => void
  #isTaken = false
  #isClosed = false
  #waiting: (() => void)[] = []

  /**
   * Starts without transactions.
   * @param onEnd called after each transaction, also one that failed, so that reads of this engine see what it wrote
   */
  constructor(store: LmdbStore, onEnd: () => void) {
    this.#store = store
    this.#onEnd = onEnd
  }

  /**
   * Durability of transactions that WAL files depend on: what was merged of a file must be on disk before the
   * file is removed.
   */
  get ofLog(): Durability {
    return this.#store.durability === 'none' ? 'none' : 'full'
  }

  /** Durability of transactions of merges. A sync follows them. */
  get ofMerge(): Durability {
    return this.#store.durability === 'none' ? 'none' : 'ordered'
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
    return this.inTurn(() => this.runNow(durability, work))
  }

  /** Does what `run` does, for a caller that has the turn, or if no merge can be under way. */
  runNow<T>(durability: Durability, work: () => T): T {
    const { path, root, sync } = this.#store
    this.#store.expectInPlace()
    try {
      return withStoreErrors(path, () => {
        sync.regainMetaNow()
        return runTransaction(root, durability, work)
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
  }

  /**
   * Makes all transactions so far durable, after work that makes durable what they name. No other transaction comes between.
   * @throws `store_full`, `store_failed`
   */
  async syncAfter(work: () => Promise<void>): Promise<void> {
    const { path, root, sync } = this.#store
    await this.inTurn(() =>
      withStoreErrorsAsync(path, async () => {
        await work()
        if (sync.isInDoubt) {
          await sync.regain()
          return
        }
        const error = await new Promise<Error | null | undefined>((resolve) => root.sync(resolve))
        if (!error) return
        sync.doubt()
        throw error
      }),
    )
  }

  /** Makes all transactions so far durable. @throws `store_full`, `store_failed` */
  async sync(): Promise<void> {
    const { path, root, sync } = this.#store
    await withStoreErrorsAsync(path, async () => {
      if (sync.isInDoubt) {
        await this.inTurn(() => sync.regain())
        return
      }
      const error = await new Promise<Error | null | undefined>((resolve) => root.sync(resolve))
      if (!error) return
      sync.doubt()
      throw error
    })
  }

  /** Called after a transaction failed, perhaps because of a sync. With the durability `none` transactions have none. */
  #doubt(): void {
    if (this.#store.durability !== 'none') this.#store.sync.doubt()
  }
}
