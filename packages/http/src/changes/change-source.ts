import type { VersionWrites } from '@ledger-state/core'

/** Consecutive versions with their writes, without the store's own keys. */
export interface ChangePage {
  readonly versions: readonly VersionWrites[]
  /** Number of the newest truncation (`branchOf`) of the ledger that the versions belong to. */
  readonly branch: number
}

/** Reads versions in order. One read at a time; a read that continues where the last one ended is cheap. */
export interface ChangeCursor {
  /**
   * Reads at least one version, beginning with `first`, and none above `last`. Empty if the source does not have
   * `first` yet.
   * @throws `version_pruned`, `version_truncated`
   */
  read(first: bigint, last: bigint): Promise<ChangePage>
  /** Frees the resources of the reads. */
  close(): void
}

/** Source of the writes of versions, for streams. */
export interface ChangeSource {
  /** Opens a cursor for one reader. */
  open(): ChangeCursor
}
