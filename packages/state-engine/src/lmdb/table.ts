import type { Buffer } from 'node:buffer'
import type { Transaction } from 'lmdb'

/** How to read: in a transaction; where none is given, in the write transaction at hand, or as things are now. */
export interface ReadOptions {
  readonly transaction?: Transaction
}

/** Both ends are named, also where there is none: lmdb-js puts a key of its own making for one that is left out. */
export interface RangeOptions<K> extends ReadOptions {
  readonly start: K | undefined
  /** Exclusive. */
  readonly end: K | undefined
  readonly limit?: number
  readonly reverse?: boolean
}

export interface TableStats {
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
  readonly entryCount: number
}

/** What is used of a database of lmdb, whose own types know neither keys of other kinds nor all options. */
export interface Table<K> {
  /** A copy. */
  getBinary(key: K, options?: ReadOptions): Buffer | undefined
  /** See `SharedRecord`. */
  getBinaryFast(key: K, options?: ReadOptions): Buffer | undefined
  getRange(options: RangeOptions<K>): Iterable<{ key: K; value: Buffer }>
  getKeys(options: RangeOptions<K>): Iterable<K>
  /** `append`: the key is above all others; half the cost, and pages are filled. */
  putSync(key: K, value: Uint8Array, options?: { readonly append: boolean }): void
  removeSync(key: K): void
  clearSync(): void
  getStats(): TableStats
}

export interface RootStats extends TableStats {
  readonly lastPageNumber: number
  readonly pageSize: number
  readonly mapSize: number
  readonly maxReaders: number
  readonly numReaders: number
  readonly free: TableStats
}

/** What is used of the environment of lmdb. */
export interface Environment {
  transactionSync<T>(work: () => T): T
  useReadTransaction(): Transaction
  getStats(): RootStats
  /** Cleared of readers whose processes are gone. */
  readerCheck(): number
  backup(path: string, compact: boolean): Promise<void>
  sync(done: (error?: Error | null) => void): void
  close(): Promise<void>
}
