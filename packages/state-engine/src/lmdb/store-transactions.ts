import type { Durability } from './durability.js'
import { type LmdbStore, withStoreErrors } from './lmdb-store.js'
import { runTransaction } from './write-transaction.js'

/** The write transactions of the one writer of a store. */
export class StoreTransactions {
  readonly #store: LmdbStore
  readonly #onEnd: () => void
  #isTaken = false
  #waiting: (() => void)[] = []

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

  /** Called when others begin to wait for the work whose turn it is, and when its turn begins. */
  onWanted: (isWanted: boolean) => void = () => {}

  /**
   * Runs work that has write transactions, perhaps in another thread, after that which was asked for before; at once if there is
   * none. So nobody waits for LMDB's lock, which would stop the event loop.
   */
  async inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#isTaken) {
      const turn = new Promise<void>((resolve) => this.#waiting.push(resolve))
      this.onWanted(true)
      await turn
    }
    this.#isTaken = true
    this.onWanted(this.#waiting.length > 0)
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      // It stays taken: nobody comes between.
      if (next) next()
      else this.#isTaken = false
    }
  }

  /**
   * Runs work in a write transaction, in turn; what it throws undoes all of it. The work may be run again, and must then do the
   * same.
   * @throws `store_missing`, `store_full`, `store_failed`
   */
  run<T>(durability: Durability, work: () => T): Promise<T> {
    return this.inTurn(() => this.runNow(durability, work))
  }

  /** Does what `run` does for who has the turn, or where none merges. */
  runNow<T>(durability: Durability, work: () => T): T {
    const { path, root } = this.#store
    this.#store.expectInPlace()
    try {
      return withStoreErrors(path, () => runTransaction(root, durability, work))
    } finally {
      this.#onEnd()
    }
  }

  /** Has another thread run a transaction, in turn. */
  runElsewhere<T>(work: () => Promise<T>): Promise<T> {
    return this.inTurn(async () => {
      this.#store.expectInPlace()
      try {
        return await work()
      } finally {
        this.#onEnd()
      }
    })
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
