import type { BlockInfo, KeyedEntry } from '@ledger-state/core'

/** The ledger as one reader sees it: the committed versions that are not pruned. */
export interface LedgerSummary {
  /** Identifier of the chain, a u64. */
  readonly chainId: bigint
  readonly latestVersion: bigint
  /** Block that `latestVersion` belongs to. */
  readonly latestBlock: BlockInfo
  /** Oldest version that can be read; always the first of a block. */
  readonly oldestVersion: bigint
  readonly oldestBlock: BlockInfo
  /**
   * Truncations of the ledger, the newest last; absent if there was none. An earlier truncation stays in the list only
   * if it cut at a lower version. The list holds at most 16: beyond that, two are joined at the lower version.
   */
  readonly truncations?: readonly Truncation[] | undefined
}

/** A truncation: all versions above one were cut off. Later commits may have given their numbers to other versions. */
export interface Truncation {
  /** Number of the truncation in its store, starting at 1. */
  readonly number: number
  /** Newest version that was left. */
  readonly version: bigint
}

/**
 * Number of the newest truncation, or 0. In the same branch, a version number always has the same content, so values
 * that are derived from versions may be kept for one branch.
 */
export function branchOf({ truncations }: LedgerSummary): number {
  return truncations?.at(-1)?.number ?? 0
}

/**
 * Whether two ledgers are the same: of one chain, with the same window on the same branch, or both absent. Every read
 * then has the same answer.
 */
export function isSameLedger(a: LedgerSummary | undefined, b: LedgerSummary | undefined): boolean {
  if (!a || !b) return a === b
  const isSameWindow = a.latestVersion === b.latestVersion && a.oldestVersion === b.oldestVersion
  return isSameWindow && a.chainId === b.chainId && branchOf(a) === branchOf(b)
}

/** First key and number of entries of a scan. */
export interface ScanOptions {
  /** First key that may be returned, in the order of the keys' bytes; by default the prefix. */
  readonly start?: Uint8Array | undefined
  /** Most entries to return; all by default. */
  readonly limit?: number | undefined
}

/** A write of a key, as its history lists it. */
export interface Revision {
  /** Version of the write. */
  readonly version: bigint
  /** Value that was written; null for a deletion. */
  readonly value: Uint8Array | null
  /** Annotation that the write kept with the value. */
  readonly annotation?: Uint8Array | undefined
}

/** Which writes of a key a history lists, and in which order. */
export interface HistoryOptions {
  /** First version to list; by default the first of the window. `last`, if given, is included. */
  readonly first?: bigint | undefined
  readonly last?: bigint | undefined
  /** Order of the writes: `asc` begins with the oldest version, `desc`, the default, with the newest. */
  readonly order?: 'asc' | 'desc' | undefined
}

/** A block with the versions that belong to it. */
export interface Block {
  readonly firstVersion: bigint
  /** Last version of the block; for the newest block, the latest version. */
  readonly lastVersion: bigint
  readonly block: BlockInfo
}

/** The state with which a store began. */
export interface StoreBase {
  readonly version: bigint
  /**
   * Whether the store holds everything that existed at this version: true for version 0 and for an imported state. A
   * store that began with a later version does not know earlier writes.
   */
  readonly complete: boolean
}

/** A value, and the version that wrote it. */
export interface StateEntry {
  /** Version that wrote the value. */
  readonly version: bigint
  /** Copy of the value, which the caller owns. */
  readonly value: Uint8Array
  /** Annotation that the write kept with the value; a copy, too. */
  readonly annotation?: Uint8Array | undefined
}

/**
 * The state at one version. Its answers never change. Once the version is pruned, reads throw `version_pruned`; once a
 * truncation has cut it off, they throw `version_truncated`, even if another version has its number since.
 */
export interface StateView {
  readonly version: bigint
  /** The ledger at the time when the view was made. */
  readonly ledger: LedgerSummary
  /**
   * Reads the newest value written at or below the version, as a copy; undefined if the key was deleted or never
   * written.
   * @throws `version_pruned`, `version_truncated`
   */
  get(key: Uint8Array): Uint8Array | undefined
  /**
   * Same as `get`, without the copy: the bytes are valid until the next read from any engine in this thread, and must
   * not be written to.
   */
  peek(key: Uint8Array): Uint8Array | undefined
  /** Same as `get`, with the version of the write. */
  getEntry(key: Uint8Array): StateEntry | undefined
  /**
   * Reads the entries of the version with a key prefix, in the order of the keys' bytes; all entries if the prefix is
   * empty. The cost depends on the entries that are read, not on where the scan starts.
   * @throws `version_pruned`, `version_truncated`, even in the middle of the scan
   */
  scan(prefix: Uint8Array, options?: ScanOptions): Iterable<KeyedEntry>
}

/** The reads that readers of state need of an engine. They are synchronous, because that costs less than a promise. */
export interface StateReader {
  /** The ledger; undefined until the first commit. */
  readonly ledger: LedgerSummary | undefined
  /**
   * The state at a version, by default the latest.
   * @throws `no_ledger`, `version_not_found`, `version_pruned`
   */
  at(version?: bigint): StateView
  /** The state with which the store began; undefined until the first commit. */
  readonly base: StoreBase | undefined
  /**
   * Finds the block that a version belongs to.
   * @throws `no_ledger`, `version_not_found`, `version_pruned`
   */
  blockAt(version: bigint): Block
  /** Finds the block of a height; undefined if the window holds none. @throws `no_ledger` */
  blockByHeight(height: bigint): Block | undefined
  /**
   * Finds the newest block at or before a given time. Undefined if all blocks of the window are later.
   * @throws `no_ledger`
   */
  blockAtTime(timestampUsec: bigint): Block | undefined
  /**
   * Reads the writes of a key that some version of the window sees. If the key was already deleted at the oldest
   * version, there are none from before it. The cost depends on the writes that are read, not on where the history
   * starts.
   * @throws `no_ledger`; `version_pruned` if the pruner overtakes it: in the order `desc`, once it would go below the
   *   write that the new oldest version sees; `version_truncated` if versions that it would
   *   list are cut off meanwhile
   */
  history(key: Uint8Array, options?: HistoryOptions): Iterable<Revision>
}
