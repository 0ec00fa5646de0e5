import type { Buffer } from 'node:buffer'

// The part of lmdb-js that the engine uses. Its own types lack other kinds of keys and some options.

export interface ReadTransaction {
  done(): void
}

/**
 * How a read is made: without a transaction it uses the write transaction of this thread, or else the newest commit.
 */
export interface ReadOptions {
  readonly transaction?: ReadTransaction
}

/** Both ends are required, if only as undefined: lmdb-js replaces an omitted one by a key that it makes. */
export interface RangeOptions<K> extends ReadOptions {
  readonly start: K | undefined
  /** Exclusive. */
  readonly end: K | undefined
  readonly limit?: number
  readonly reverse?: boolean
}

export interface TableStats {
  readonly pageSize: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
  readonly entryCount: number
}

/** A database of an environment. */
export interface Table<K> {
  /** A copy. */
  getBinary(key: K, options?: ReadOptions): Buffer | undefined
  /** See `SharedRecord`. */
  getBinaryFast(key: K, options?: ReadOptions): Buffer | undefined
  getRange(options: RangeOptions<K>): Iterable<{ key: K; value: Buffer }>
  getKeys(options: RangeOptions<K>): Iterable<K>
  /** Puts a value; with `append` the key is above all others: half the cost, and full pages. */
  putSync(key: K, value: Uint8Array, options?: { readonly append: boolean }): void
  removeSync(key: K): void
  clearSync(): void
  /**
   * Resolves when the pages of values are in memory: another thread reads one after the other, in a read transaction of the
   * newest commit that takes a slot of the table of readers. If none is left, the process is ended by a signal.
   */
  prefetch(keys: readonly K[]): Promise<void>
  getStats(): TableStats
}

export interface RootStats extends TableStats {
  readonly lastPageNumber: number
  readonly mapSize: number
  readonly maxReaders: number
  readonly numReaders: number
  readonly free: TableStats
}

/** A data file that is open. */
export interface LmdbEnvironment {
  /** Runs work in a write transaction; what it throws undoes all of it. */
  transactionSync<T>(work: () => T, flags?: number): T
  /**
   * A transaction of the newest state, or of an older one that was read in the same turn of the event loop: see
   * `resetReadTxn`.
   */
  useReadTransaction(): ReadTransaction
  /** The next read transaction is one of the newest state. */
  resetReadTxn(): void
  /** The number of the current write transaction. */
  getWriteTxnId(): number
  readonly env: {
    readonly path: string
    /** `lastTxnId`: the number of the newest commit, as of the meta pages. */
    info(): { readonly lastTxnId: number }
  }
  getStats(): RootStats
  /** Frees the slots of readers whose processes are gone. */
  readerCheck(): number
  backup(path: string, compact: boolean): Promise<void>
  sync(done: (error?: Error | null) => void): void
  close(): Promise<void>
}
