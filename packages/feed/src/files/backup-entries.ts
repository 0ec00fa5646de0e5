/** A range of versions, from the first to the last. */
export interface VersionRange {
  readonly firstVersion: bigint
  readonly lastVersion: bigint
}

/** A range of versions, as the metadata of a backup list it. */
export interface TransactionBackupEntry extends VersionRange {
  readonly manifest: string
}

/** The whole state at a version. */
export interface SnapshotEntry {
  readonly version: bigint
  readonly manifest: string
}

/** Ledger infos that end epochs, as the metadata of a backup list them. */
export interface EpochEndingEntry {
  readonly firstEpoch: bigint
  readonly lastEpoch: bigint
  /** Versions with which the first and the last of the epochs end. */
  readonly firstVersion: bigint
  readonly lastVersion: bigint
  readonly manifest: string
}
