import type { Durability } from './durability.js'
import { type LmdbStore, withStoreErrors } from './lmdb-store.js'
import { runTransaction } from './write-transaction.js'

/** The write transactions of the one writer of a store. */
export class StoreTransactions {
  readonly #store: LmdbStore
  readonly #onEnd: () => void

  /** @param onEnd called after each transaction, also one that failed: reads of this engine then see what it wrote */
  constructor(store: LmdbStore, onEnd: () => void) {
    this.#store = store
    this.#onEnd = onEnd
  }

  /** Durability of transactions that write-ahead files depend on: what was merged of a file is on disk before it is removed. */
  get ofLog(): Durability {
    return this.#store.durability === 'none' ? 'none' : 'full'
  }

  /** Durability of slices, of which the last is followed by a sync. */
  get ofSlice(): Durability {
    return this.#store.durability === 'none' ? 'none' : 'ordered'
  }

  /**
   * Runs work in a write transaction; what it throws undoes all of it. The work may be run again, and must then do the same.
   * @throws `store_missing`, `store_full`, `store_failed`
   */
  run<T>(durability: Durability, work: () => T): T {
    const { path, root } = this.#store
    this.#store.expectInPlace()
    try {
      return withStoreErrors(path, () => runTransaction(root, durability, work))
    } finally {
      this.#onEnd()
    }
  }

  /** Makes all transactions so far durable. @throws `store_full`, `store_failed` */
  async sync(): Promise<void> {
    const { path, root } = this.#store
    const error = await new Promise<Error | null | undefined>((resolve) => root.sync(resolve))
    withStoreErrors(path, () => {
      if (error) throw error
    })
  }
}
