/** Versions from the first to the last one. */
export interface VersionRange {
  readonly firstVersion: bigint
  readonly lastVersion: bigint
}

/** A stretch of versions, as metadata name it. */
export interface TransactionBackupEntry extends VersionRange {
  readonly manifest: string
}

/** The whole state at a version. */
export interface SnapshotEntry {
  readonly version: bigint
  readonly manifest: string
}

/** Ledger infos that end epochs. */
export interface EpochEndingEntry {
  readonly firstEpoch: bigint
  readonly lastEpoch: bigint
  /** Version with which the first epoch ends, and the last one. */
  readonly firstVersion: bigint
  readonly lastVersion: bigint
  readonly manifest: string
}
