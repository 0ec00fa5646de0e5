import type { BlockInfo, StateReader, StateView, VersionWrites } from '@ledger-state/core'

export interface KeyedEntry {
  readonly key: Uint8Array
  /** The version that wrote the value. */
  readonly version: bigint
  readonly value: Uint8Array
}

export interface Revision {
  /** The version of the write. */
  readonly version: bigint
  /** Null for a deletion. */
  readonly value: Uint8Array | null
}

/** A view with what else an engine can tell of a version. All bytes are copies, but those of `peek`. */
export interface EngineView extends StateView {
  has(key: Uint8Array): boolean
  /** As `get` for each of the keys, all at the one version. */
  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[]
  /** What begins with a prefix and is there at the version, in the order of the keys' bytes. The empty prefix: all. */
  scan(prefix: Uint8Array): Iterable<KeyedEntry>
}

export interface Block {
  readonly firstVersion: bigint
  readonly block: BlockInfo
}

/** An engine open for reading. */
export interface StateEngineReader extends StateReader {
  at(version?: bigint): EngineView
  /**
   * The block that a version belongs to.
   * @throws `no_ledger`, `version_not_found`, `version_pruned`
   */
  blockAt(version: bigint): Block
  /**
   * The writes of a key that some version of the window sees, newest first. What was deleted by the oldest version has none.
   * @throws `no_ledger`; `version_pruned` where the pruner overtakes it
   */
  history(key: Uint8Array): Iterable<Revision>
}

export interface CommitOptions {
  /** Identifies the chain: kept with the first commit, compared with every later one. */
  readonly chainId: number
}

export interface PruneResult {
  readonly oldestVersion: bigint
  /** Superseded values and forgotten deletions that were dropped. */
  readonly droppedEntries: number
}

/** Where the state that an empty store is given stands in its ledger. */
export interface ImportBase {
  readonly chainId: number
  /** Becomes the oldest and the latest version, and the first of its block. */
  readonly version: bigint
  readonly block: BlockInfo
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
  prune(retainVersions: bigint): Promise<PruneResult>
  /**
   * Fills an empty store with the state at a version, such as `engine.at(version).scan(empty)` of another. Nobody sees
   * any of it before all of it is there; what was cut short is thrown away when a writer opens the store again.
   * @throws `store_not_empty`, `duplicate_key`, `key_too_long`, `value_too_long`, `invalid_argument`
   */
  importState(base: ImportBase, entries: Iterable<KeyedEntry> | AsyncIterable<KeyedEntry>): Promise<void>
}
