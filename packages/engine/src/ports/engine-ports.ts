/// <reference lib="esnext.disposable" preserve="true" />
// Declarations of a program without the types of Node.js find `AsyncDisposable` by it.
import type { BlockInfo, KeyedEntry, VersionWrites } from '@ledger-state/core'
import type { LedgerSummary, StateReader, StateView } from './state-port.js'

/**
 * A view of an engine, with more reads than readers of state need. All bytes are copies, except the result of `peek`.
 */
export interface EngineView extends StateView {
  /** Whether the key has a value at this version. @throws `version_pruned` */
  has(key: Uint8Array): boolean
  /** Same as `get`, for each of the keys in turn. */
  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[]
}

/**
 * An engine open for reading. Arguments of a wrong type are `invalid_argument`. After `close`, every call throws
 * `store_closed`. `await using` closes it.
 */
export interface StateEngineReader extends StateReader, AsyncDisposable {
  /** Discriminant: reads of this engine are synchronous; reads of an `AsyncStateReader` are promises. */
  readonly kind: 'sync'
  /** Mark of the newest commit, or the mark that `putMark` has put in its place. */
  readonly mark: Uint8Array | undefined
  at(version?: bigint): EngineView
  /**
   * Reads the writes of versions, in order, in a form that can be committed to another store. Deletions of absent keys
   * are not kept. For versions that are not merged yet, the cost is proportional to their writes. If a range has merged
   * versions, however short it is, it costs a pass over all keys, and a further one for every 100,000 writes of the
   * range: ask for long ranges.
   * @throws `no_ledger`, `version_not_found`; `version_pruned` unless all of them are above the oldest version;
   *   `version_truncated` if some are cut off meanwhile
   */
  versions(first: bigint, last: bigint): Iterable<VersionWrites>
  /**
   * Calls a listener after commits, prunes and truncations, of this process or another one. After several at once, it
   * is called once, with the newest state. Returns a function that removes the listener. An error of a listener becomes
   * an uncaught exception of the process, as with `EventTarget`: the commit remains valid, and the other listeners are
   * called. A listener does not keep the process alive unless its options say so.
   */
  onCommit(listener: (ledger: LedgerSummary) => void, options?: ListenerOptions): () => void
  /** Closes the engine, and releases the lock of a writer. Later calls do nothing. */
  close(): Promise<void>
}

/** Options of a listener of commits. */
export interface ListenerOptions {
  /** Whether the process stays alive until the listener is removed or the engine is closed; false by default. */
  readonly keepAlive?: boolean
}

/** Options of a commit: its chain, and a mark of its source. */
export interface CommitOptions {
  /** A u64 that identifies the chain. The first commit sets it; every later one must give the same. */
  readonly chainId: bigint | number
  /**
   * Opaque bytes, up to 64 KiB, that are kept until the next commit or `putMark`: the position of its source, for example, or a
   * proof of the ledger.
   */
  readonly mark?: Uint8Array | undefined
}

/** Result of a prune. */
export interface PruneResult {
  readonly oldestVersion: bigint
  /**
   * Number of superseded values and deletions that this call removed from the files. Values that are superseded in
   * memory, before they are written to the files, are never counted.
   */
  readonly droppedEntries: number
  /** Whether everything that can be removed is removed. If not, the next call continues. */
  readonly done: boolean
}

/** When a prune stops. */
export interface PruneOptions {
  /**
   * Number of superseded values and deletions after which the prune stops, once the step under way is done; no limit by
   * default. An engine that drops them in larger units reports at most this number; the next call reports the rest.
   */
  readonly maxEntries?: number
}

/** Options of a truncation. */
export interface TruncateOptions {
  /**
   * Mark as in a commit: the knowledge about the ledger at the version that becomes the latest. Marks of earlier
   * commits are not kept.
   */
  readonly mark?: Uint8Array | undefined
}

/** Facts about the ledger of an imported state, for `finish`. */
export interface ImportBase {
  readonly chainId: bigint | number
  /** The block that begins with the imported version. */
  readonly block: BlockInfo
  /**
   * Whether the state is complete, as `StoreBase.complete` says; true by default. False if it comes from a store that
   * is not complete itself.
   */
  readonly complete?: boolean | undefined
  /** Mark of the state: see `CommitOptions`. */
  readonly mark?: Uint8Array | undefined
}

/** An import of the state at a version into an empty store. Readers see nothing of it until `finish`. */
export interface StateImport {
  readonly version: bigint
  /** Number of entries added so far, including the entries of an interrupted import that was resumed. */
  readonly entryCount: number
  /** Mark of the last `add`. */
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
  /** Mark of the last `add`. */
  readonly mark: Uint8Array | undefined
}

/** Options of an import. */
export interface ImportOptions {
  /** Whether to resume an interrupted import of the same version. By default its entries are discarded. */
  readonly resume?: boolean
}

/** The writer of a store. A store has one writer at a time. */
export interface StateWriter extends StateEngineReader {
  /**
   * Makes consecutive versions visible and durable, all or none. Resolves when they are durable; until then the arrays
   * and bytes must not be changed. Each block must have a greater height than the previous block, and not an earlier
   * time.
   * @throws `version_gap`, `block_order`, `duplicate_key`, `chain_id_mismatch`, `key_too_long`, `value_too_long`,
   *   `invalid_argument`, `store_full`; the store is then unchanged
   */
  commit(versions: readonly VersionWrites[], options: CommitOptions): Promise<void>
  /**
   * Removes all writes that no version of a window of `retainVersions` versions can see. The window begins with the
   * block that version latest - retainVersions + 1 belongs to, so it is never smaller than asked for. It never moves
   * back.
   * @throws `no_ledger`, `invalid_argument`
   */
  prune(retainVersions: bigint, options?: PruneOptions): Promise<PruneResult>
  /**
   * Cuts off all versions above one, as if they had never been committed: that version becomes the latest, and the next
   * commit begins with the version after it, which may be in another block and write other values than before. Resolves
   * when it is as durable as a commit. The version may be any of the window, also within a block or a commit; the
   * window does not move.
   *
   * It is for node software on chains that reorganize. Example: the chain abandons the blocks after version 1,499; the
   * node calls `await engine.truncateTo(1_499n)`, then commits the other branch from version 1,500.
   *
   * Views and lists that were requested before and might see a cut version throw `version_truncated` afterwards, even
   * if another version was committed under its number. Views of the remaining versions still answer.
   * `LedgerSummary.truncations` distinguishes later versions of a number from earlier ones.
   * @throws `no_ledger`, `version_not_found`, `version_pruned`, `invalid_argument`, `store_full`; the store is then
   * unchanged
   */
  truncateTo(version: bigint, options?: TruncateOptions): Promise<void>
  /**
   * Replaces the mark. Nothing else changes: views and lists remain valid, and no listener is called. Resolves when the
   * mark is as durable as a commit.
   * @throws `no_ledger`, `invalid_argument`, `store_full`; the mark is then unchanged
   */
  putMark(mark: Uint8Array): Promise<void>
  /**
   * Begins to import the state at a version into an empty store. A commit discards an unfinished import.
   * @throws `store_not_empty`, `invalid_argument`
   */
  beginImport(version: bigint, options?: ImportOptions): Promise<StateImport>
  /** The import that `beginImport` would resume, or discard; undefined if there is none. */
  unfinishedImport(): Promise<UnfinishedImport | undefined>
}
