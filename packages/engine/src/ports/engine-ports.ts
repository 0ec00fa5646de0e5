/// <reference lib="esnext.disposable" preserve="true" />
// Declarations of a program without the types of Node.js find `AsyncDisposable` by it.
import type { BlockInfo, KeyedEntry, VersionWrites } from '@ledger-state/core'
import type { LedgerInfo, StateReader, StateView } from './state-port.js'

/** A view with more reads. All bytes are copies, except those of `peek`. */
export interface EngineView extends StateView {
  /** Whether the key has a value at this version. @throws `version_pruned` */
  has(key: Uint8Array): boolean
  /** Same as `get`, for each of the keys in turn. */
  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[]
}

/**
 * An engine open for reading. Arguments of a wrong type are `invalid_argument`; after `close` all is `store_closed`.
 * `await using` closes it.
 */
export interface StateEngineReader extends StateReader, AsyncDisposable {
  /** Discriminant: the reads of an `AsyncStateReader` are promises, these are not. */
  readonly kind: 'sync'
  /** The mark of the newest commit. */
  readonly mark: Uint8Array | undefined
  at(version?: bigint): EngineView
  /**
   * What versions wrote, in order, in a form that can be committed to another store. Deletions of keys that were not
   * there are not kept. Versions that are not merged yet cost what they wrote. Merged ones of a range, however short it is, cost a
   * look at all keys, and one more for every 100,000 writes of the range: ask for long ranges.
   * @throws `no_ledger`, `version_not_found`; `version_pruned` unless all of them are above the oldest version;
   *   `version_truncated` if some are cut off meanwhile
   */
  versions(first: bigint, last: bigint): Iterable<VersionWrites>
  /**
   * Calls back after commits, prunes and truncations, whoever makes them; of several at once it passes only the newest state. Returns
   * a function that removes the listener. What a listener throws is an uncaught exception of the process, as with
   * `EventTarget`: the commit stands, and the other listeners are called. A listener does not keep the process alive
   * unless its options say so.
   */
  onCommit(listener: (ledger: LedgerInfo) => void, options?: ListenerOptions): () => void
  /** Closes the engine; of a writer, also its lock. Later calls do nothing. */
  close(): Promise<void>
}

/** How a listener of commits is kept. */
export interface ListenerOptions {
  /** Whether the process runs on until the listener is removed or the engine is closed; false by default. */
  readonly keepAlive?: boolean
}

/** What a commit says of its chain and of its source. */
export interface CommitOptions {
  /** A u64 that identifies the chain. The first commit sets it; every later one must give the same. */
  readonly chainId: bigint | number
  /** Opaque bytes, up to 64 KiB, kept until the next commit: where its source stands, or what proves the ledger. */
  readonly mark?: Uint8Array | undefined
}

/** What a prune did. */
export interface PruneResult {
  readonly oldestVersion: bigint
  /**
   * Superseded values and deletions that this call removed from the files. What is superseded before it is written into
   * them, while it is in the table in memory, is never counted.
   */
  readonly droppedEntries: number
  /** Whether everything that can go is gone. If not, the next call continues. */
  readonly done: boolean
}

/** When a prune stops. */
export interface PruneOptions {
  /** Superseded values and deletions after which to stop, once the step under way is done; no limit by default. */
  readonly maxEntries?: number
}

/** What the ledger is given when it is truncated. */
export interface TruncateOptions {
  /**
   * Mark like that of a commit: what was known of the ledger at the version that is left. Marks of earlier commits
   * are not kept.
   */
  readonly mark?: Uint8Array | undefined
}

/** What the ledger knows of an imported state; `finish` takes it. */
export interface ImportBase {
  readonly chainId: bigint | number
  /** The block that begins at the imported version. */
  readonly block: BlockInfo
  /** See `StoreBase`; true by default. False if the state comes from a store that is not complete itself. */
  readonly complete?: boolean | undefined
  /** See `CommitOptions`. */
  readonly mark?: Uint8Array | undefined
}

/** An import of the state at a version into an empty store. Readers see nothing of it until `finish`. */
export interface StateImport {
  readonly version: bigint
  /** Entries added so far, including those of an interrupted import that was resumed. */
  readonly entryCount: number
  /** The mark of the last `add`. */
  readonly mark: Uint8Array | undefined
  /**
   * Adds some thousands of entries, all or none. Resolves when they are durable.
   * @throws `duplicate_key`, `key_too_long`, `value_too_long`, `invalid_argument`, `store_full`
   */
  add(entries: readonly KeyedEntry[], mark?: Uint8Array): Promise<void>
  /** Makes the state visible: its version becomes both the oldest and the latest. @throws `invalid_argument` */
  finish(base: ImportBase): Promise<void>
}

/** An import that was begun and not finished. */
export interface UnfinishedImport {
  readonly version: bigint
  /** The mark of the last `add`. */
  readonly mark: Uint8Array | undefined
}

/** Whether an import resumes. */
export interface ImportOptions {
  /** Resumes an interrupted import of the same version. Otherwise, and by default, its entries are discarded. */
  readonly resume?: boolean
}

/** The one writer of a store. */
export interface StateWriter extends StateEngineReader {
  /**
   * Makes consecutive versions visible and durable, all or none. Resolves when they are durable; until then the arrays and bytes must
   * stay as they are. Each block is higher than the one before, and not earlier.
   * @throws `version_gap`, `block_order`, `duplicate_key`, `chain_id_mismatch`, `key_too_long`, `value_too_long`,
   *   `invalid_argument`, `store_full`; the store is then unchanged
   */
  commit(versions: readonly VersionWrites[], options: CommitOptions): Promise<void>
  /**
   * Removes what no version of a window of `retainVersions` can see. The window begins with the block that version
   * latest - retainVersions + 1 belongs to, so it is never smaller than asked for. It never moves back.
   * @throws `no_ledger`, `invalid_argument`
   */
  prune(retainVersions: bigint, options?: PruneOptions): Promise<PruneResult>
  /**
   * Cuts off all versions above one, as if they had never been committed: that version becomes the latest, and the next
   * commit begins with the one after it, which may be of another block and write other values than before. Resolves when it
   * is as durable as a commit. The version may be any of the window, also within a block or a commit; the window does not move.
   *
   * This is for node software on chains that reorganize. Example: the chain abandons the blocks after version 1,499; the node
   * calls `await engine.truncateTo(1_499n)`, then commits the other branch from version 1,500.
   *
   * Whatever was asked for before and may see a version that was cut off is `version_truncated` from then on, even after
   * another version was committed under its number; views of versions that are left continue. `LedgerInfo.truncations` distinguishes
   * later versions of a number from earlier ones.
   * @throws `no_ledger`, `version_not_found`, `version_pruned`, `invalid_argument`, `store_full`; the store is then unchanged
   */
  truncateTo(version: bigint, options?: TruncateOptions): Promise<void>
  /**
   * Begins to import the state at a version into an empty store. A commit discards an unfinished import.
   * @throws `store_not_empty`, `invalid_argument`
   */
  beginImport(version: bigint, options?: ImportOptions): Promise<StateImport>
  /** The import that `beginImport` would resume, or discard; undefined if there is none. */
  unfinishedImport(): Promise<UnfinishedImport | undefined>
}
