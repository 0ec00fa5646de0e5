import type { StateReader, VersionWrites } from '@ledger-state/core'

export interface CommitOptions {
  /** Identifies the chain: kept with the first commit, compared with every later one. */
  readonly chainId: number
}

export interface PruneResult {
  readonly oldestVersion: bigint
  /** Superseded values and forgotten deletions that were dropped. */
  readonly droppedEntries: number
}

/** The one writer of a store. */
export interface StateWriter extends StateReader {
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
}
