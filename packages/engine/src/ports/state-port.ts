import type { BlockInfo, KeyedEntry } from '@ledger-state/core'

/** The state of the ledger as one reader sees it: what is committed and not pruned. */
export interface LedgerInfo {
  /** u64. */
  readonly chainId: bigint
  readonly latestVersion: bigint
  /** The block that `latestVersion` belongs to. */
  readonly latestBlock: BlockInfo
  /** The oldest version that is read; always the first of a block. */
  readonly oldestVersion: bigint
  readonly oldestBlock: BlockInfo
  /**
   * What was cut off, the newest truncation last; absent while nothing was. Of earlier truncations it has those that cut at
   * lower versions, 16 in all: with more, two become one that cuts at the lower version of both.
   */
  readonly truncations?: readonly Truncation[] | undefined
}

/** All versions above one were cut off. Later commits may have given their numbers to other versions. */
export interface Truncation {
  /** Truncations of a store count from 1. */
  readonly number: number
  /** The newest version that was left. */
  readonly version: bigint
}

/**
 * The number of the newest truncation, or 0. With the same branch, a version has the same content: whoever keeps what it
 * derived from versions keeps it for one branch.
 */
export function branchOf({ truncations }: LedgerInfo): number {
  return truncations?.at(-1)?.number ?? 0
}

/** Whether both are of one chain with the same window on the same branch, or neither is there: then every read answers the same. */
export function isSameLedger(a: LedgerInfo | undefined, b: LedgerInfo | undefined): boolean {
  if (!a || !b) return a === b
  const isSameWindow = a.latestVersion === b.latestVersion && a.oldestVersion === b.oldestVersion
  return isSameWindow && a.chainId === b.chainId && branchOf(a) === branchOf(b)
}

/** First key of a scan, and the number of entries that it answers. */
export interface ScanOptions {
  /** The first key that may be answered, in the order of the keys' bytes; by default the prefix. */
  readonly start?: Uint8Array | undefined
  /** Most entries to answer; all by default. */
  readonly limit?: number | undefined
}

/** One write of a key, as its history lists it. */
export interface Revision {
  /** The version of the write. */
  readonly version: bigint
  /** Null for a deletion. */
  readonly value: Uint8Array | null
  /** The annotation that the write kept with the value. */
  readonly annotation?: Uint8Array | undefined
}

/** Which writes of a key a history lists, and in which order. */
export interface HistoryOptions {
  /** Only writes of versions from `first` to `last`, both included; by default of the whole window. */
  readonly first?: bigint | undefined
  readonly last?: bigint | undefined
  /** `asc` begins with the oldest version, `desc` with the newest; `desc` by default. */
  readonly order?: 'asc' | 'desc' | undefined
}

/** A block with the versions that belong to it. */
export interface Block {
  readonly firstVersion: bigint
  /** Latest version: the last one of the newest block. */
  readonly lastVersion: bigint
  readonly block: BlockInfo
}

/** The state that a store began with. */
export interface StoreBase {
  readonly version: bigint
  /**
   * Whether the store holds everything that existed at this version: true for version 0 and for an imported state.
   * A store whose commits began at a later version does not know what was written before.
   */
  readonly complete: boolean
}

/** A value, and the version that wrote it. */
export interface StateEntry {
  /** The version that wrote the value. */
  readonly version: bigint
  /** A copy that the caller owns. */
  readonly value: Uint8Array
  /** The annotation that the write kept with the value; a copy, too. */
  readonly annotation?: Uint8Array | undefined
}

/**
 * The state at one version. Its answers never change; once the version is pruned it throws `version_pruned`, and once it is
 * cut off by a truncation `version_truncated`, whether or not another version has its number since.
 */
export interface StateView {
  readonly version: bigint
  /** The ledger when the view was made. */
  readonly ledger: LedgerInfo
  /**
   * The newest value written at or below the version, as a copy; undefined if the key was deleted or never written.
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
   * The entries of the version whose keys begin with a prefix, in the order of the keys' bytes; for an empty prefix, all. The
   * cost follows from what is answered, wherever it starts.
   * @throws `version_pruned`, `version_truncated`, also in the middle
   */
  scan(prefix: Uint8Array, options?: ScanOptions): Iterable<KeyedEntry>
}

/** What readers of state need of an engine. Reads are synchronous: they are cheaper than a promise. */
export interface StateReader {
  /** Undefined until the first commit. */
  readonly ledger: LedgerInfo | undefined
  /**
   * The state at a version, by default the latest.
   * @throws `no_ledger`, `version_not_found`, `version_pruned`
   */
  at(version?: bigint): StateView
  /** Undefined until the first commit. */
  readonly base: StoreBase | undefined
  /**
   * The block that a version belongs to.
   * @throws `no_ledger`, `version_not_found`, `version_pruned`
   */
  blockAt(version: bigint): Block
  /** The block of a height; undefined if the window holds none. @throws `no_ledger` */
  blockByHeight(height: bigint): Block | undefined
  /**
   * The newest block whose time is at or before a given time. Undefined if all blocks of the window are later.
   * @throws `no_ledger`
   */
  blockAtTime(timestampUsec: bigint): Block | undefined
  /**
   * The writes of a key that some version of the window sees. A key that was already deleted at the oldest version has
   * none from before. The cost follows from what is answered, wherever it starts.
   * @throws `no_ledger`; `version_pruned` if the pruner overtakes it; `version_truncated` if versions that it was to
   *   list are cut off meanwhile
   */
  history(key: Uint8Array, options?: HistoryOptions): Iterable<Revision>
}
