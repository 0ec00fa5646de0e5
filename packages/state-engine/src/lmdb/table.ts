import type { Buffer } from 'node:buffer'

// The part of lmdb-js that the engine uses. The types of lmdb-js lack other kinds of keys and some options.

export interface ReadTransaction {
  done(): void
}

/** Options of a read. Without a transaction it uses the write transaction of this thread, or else the newest commit. */
export interface ReadOptions {
  readonly transaction?: ReadTransaction
}

/**
 * Range of a scan. Both ends are required, if only as undefined, because lmdb-js replaces an omitted one by a key that
 * it makes.
 */
export interface RangeOptions<K> extends ReadOptions {
  readonly start: K | undefined
  /** End of the range, exclusive. */
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
  /** Reads a value, as a copy. */
  getBinary(key: K, options?: ReadOptions): Buffer | undefined
  getRange(options: RangeOptions<K>): Iterable<{ key: K; value: Buffer }>
  getKeys(options: RangeOptions<K>): Iterable<K>
  putSync(key: K, value: Uint8Array): void
  removeSync(key: K): void
  clearSync(): void
  getStats(): TableStats
}

export interface RootStats extends TableStats {
  readonly lastPageNumber: number
  readonly mapSize: number
  readonly maxReaders: number
  readonly numReaders: number
  readonly free: TableStats
}

export interface KeyEncoder<K> {
  writeKey(key: K, target: Uint8Array, position: number): number
  readKey(source: Uint8Array, start: number, end: number): K
}

/** Values are bytes, and so are keys without an encoder. */
export interface TableOptions<K> {
  readonly name: string
  readonly encoding: 'binary'
  readonly create: boolean
  readonly keyEncoder?: KeyEncoder<K>
  readonly keyEncoding?: 'binary'
}

/** A data file that is open. */
export interface LmdbEnvironment {
  /** Runs work in a write transaction. An error of the work undoes all of it. */
  transactionSync<T>(work: () => T, flags?: number): T
  /**
   * Begins a read transaction of the newest state, or of an older one that was read in the same turn of the event loop:
   * see `resetReadTxn`.
   */
  useReadTransaction(): ReadTransaction
  /** Makes the next read transaction see the newest state. */
  resetReadTxn(): void
  /** Opens a table. Undefined if there is none and it is not to be created. */
  openDB<K>(options: TableOptions<K>): Table<K> | undefined
  /** Number of the current write transaction. */
  getWriteTxnId(): number
  /** Reads from the database that has the roots of all tables, by their names. */
  getBinary(name: Uint8Array, options?: ReadOptions): Buffer | undefined
  readonly env: {
    readonly path: string
    /** Facts about the environment. `lastTxnId` is the number of the newest commit, as of the meta pages. */
    info(): { readonly lastTxnId: number }
  }
  getStats(): RootStats
  backup(path: string, compact: boolean): Promise<void>
  sync(done: (error?: Error | null) => void): void
  close(): Promise<void>
}
