import type { BlockInfo, KeyedEntry, StateReader, StateView, VersionWrites } from '@ledger-state/core'

/** A view with what else an engine can tell of a version. All bytes are copies, but those of `peek`. */
export interface EngineView extends StateView {
  has(key: Uint8Array): boolean
  /** As `get` for each of the keys, all at the one version. */
  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[]
}

/** An engine open for reading. */
export interface StateEngineReader extends StateReader {
  /** What the newest commit was marked with. */
  readonly mark: Uint8Array | undefined
  at(version?: bigint): EngineView
  /**
   * What versions wrote, in order, as it can be committed to another store; deletions of what was not there are not
   * kept. Takes a pass over all keys, and one more for every 100,000 writes.
   * @throws `no_ledger`, `version_not_found`; `version_pruned` unless all of them are above the oldest version
   */
  versions(first: bigint, last: bigint): Iterable<VersionWrites>
}

export interface CommitOptions {
  /** u64 that identifies the chain: kept with the first commit, compared with every later one. */
  readonly chainId: bigint | number
  /** Opaque bytes, up to 64 KiB, that stand for the ledger up to here; kept until the next commit. */
  readonly mark?: Uint8Array | undefined
}

export interface PruneResult {
  readonly oldestVersion: bigint
  /** Superseded values and forgotten deletions that were dropped. */
  readonly droppedEntries: number
  /** Whether all that can go is gone; what a limit left is taken up by the next call. */
  readonly done: boolean
}

export interface PruneOptions {
  /** Superseded values after which to leave off, rounded up to a whole step of 2,000; no limit by default. */
  readonly maxEntries?: number
}

/** What is said of an imported state when all of it is there. */
export interface ImportBase {
  readonly chainId: bigint | number
  /** Begins at the version of the state, which becomes the oldest and the latest. */
  readonly block: BlockInfo
  /** As of `StoreBase`; true by default. False for the state of a store that is not complete itself. */
  readonly complete?: boolean | undefined
  /** As of a commit. */
  readonly mark?: Uint8Array | undefined
}

/** The state at a version, on its way into an empty store. Nobody sees any of it before it is finished. */
export interface StateImport {
  readonly version: bigint
  /** Entries taken in, also by an import before that was cut short and is gone on with. */
  readonly entryCount: number
  /** What the entries taken in last were marked with. */
  readonly mark: Uint8Array | undefined
  /**
   * Takes entries in, all or none, some thousands at a time. Resolves when they are durable.
   * @throws `duplicate_key`, `key_too_long`, `value_too_long`, `invalid_argument`, `store_full`
   */
  add(entries: readonly KeyedEntry[], mark?: Uint8Array): Promise<void>
  /** Makes the state visible. @throws `invalid_argument` */
  finish(base: ImportBase): Promise<void>
}

export interface ImportOptions {
  /** Goes on with what an import of the same version left that was cut short; otherwise that is thrown away. */
  readonly resume?: boolean
}

/** The one writer of a store. */
export interface StateWriter extends StateEngineReader {
  /**
   * Makes consecutive versions visible and durable, all or none. Resolves when they are durable.
   * @throws `version_gap`, `block_order`, `duplicate_key`, `chain_id_mismatch`, `key_too_long`, `value_too_long`,
   *   `invalid_argument`, `store_full`; the store is then as before
   */
  commit(versions: readonly VersionWrites[], options: CommitOptions): Promise<void>
  /**
   * Forgets what no version of a window of `retainVersions` can see. The window begins at the first block that starts
   * at or after latest - retainVersions + 1, or at the newest block if none does; it never moves back.
   */
  prune(retainVersions: bigint, options?: PruneOptions): Promise<PruneResult>
  /**
   * Begins to fill an empty store with the state at a version. A commit throws away what was not finished.
   * @throws `store_not_empty`, `invalid_argument`
   */
  beginImport(version: bigint, options?: ImportOptions): Promise<StateImport>
}
