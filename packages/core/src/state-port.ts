import type { BlockInfo } from './ledger-record.js'

/** The state of the ledger as one reader sees it: what is committed and not pruned. */
export interface LedgerInfo {
  readonly chainId: number
  readonly latestVersion: bigint
  /** The block that `latestVersion` belongs to. */
  readonly latestBlock: BlockInfo
  /** The oldest version that is read; always the first of a block. */
  readonly oldestVersion: bigint
  readonly oldestBlock: BlockInfo
}

export interface StateEntry {
  /** The version that wrote the value. */
  readonly version: bigint
  /** A copy: it stays as it is. */
  readonly value: Uint8Array
}

/** The state at one version. Its answers never change; once the version is pruned it throws `version_pruned`. */
export interface StateView {
  readonly version: bigint
  /** The ledger when the view was made. */
  readonly ledger: LedgerInfo
  /**
   * The newest value written at or below the version, as a copy; undefined where the key was deleted or never written.
   * @throws `version_pruned`
   */
  get(key: Uint8Array): Uint8Array | undefined
  /**
   * As `get`, without the copy: the bytes are good until the next read of whatever engine in this thread, and must not
   * be written to.
   */
  peek(key: Uint8Array): Uint8Array | undefined
  /** As `get`, with the version of the write. */
  getEntry(key: Uint8Array): StateEntry | undefined
}

/** What readers of state need of an engine. Reads are synchronous: they are cheaper than a promise. */
export interface StateReader {
  /** Undefined as long as nothing was committed. */
  readonly ledger: LedgerInfo | undefined
  /**
   * The state at a version, by default the latest.
   * @throws `no_ledger`, `version_not_found`, `version_pruned`
   */
  at(version?: bigint): StateView
}
