import type { KeyedEntry } from '@ledger-state/core'
import type {
  Block,
  HistoryOptions,
  LedgerSummary,
  Revision,
  ScanOptions,
  StateEntry,
  StoreBase,
} from './state-port.js'

// The reads that readers of state need of an asynchronous engine, for state on other machines. It mirrors
// `StateReader`, with three differences:
// - A snapshot pins one state of the ledger. All reads of a request go through one snapshot, so they agree with each other.
// - Reads take many questions at once, because a round costs more than an answer.
// - Lists come in pages, bounded by bytes. Each read is one round. The server that answers it decides in the same
// statement whether it may: the answer of a replica that does not have the version yet is discarded, and a version that
// was pruned meanwhile is `version_pruned`.
//
// Every method that returns a promise may reject with `unavailable` (see `AsyncErrorCode`), within the patience of the
// engine (2 s by default), and works again by itself once the servers answer.

/** Codes that asynchronous engines add to `StateErrorCode` and `StoreErrorCode`. */
export type AsyncErrorCode =
  /** No server answered in time. This says nothing about the state: the same call may succeed later. */
  'unavailable'

/** A page of a scan, up to a limit of entries or bytes. It may be empty before the end of the scan. */
export interface ScanPage {
  readonly entries: readonly KeyedEntry[]
  /** `start` of the next page. Undefined if the scan is at its end, or has as many entries as its limit. */
  readonly next: Uint8Array | undefined
}

export interface AsyncHistoryOptions extends HistoryOptions {
  /** Most revisions of a page; by default as many as fit. */
  readonly limit?: number | undefined
}

/** A page of the history of a key. */
export interface HistoryPage {
  readonly revisions: readonly Revision[]
  /** `last` of the next page, or its `first` if the order is `asc`. Undefined at the end of the history. */
  readonly next: bigint | undefined
}

/** Version at which a search for writes begins, and its direction. */
export type WriteSearch =
  /** Searches for the first write above a version, up to `last`. */
  | { readonly above: bigint; readonly last: bigint }
  /** Searches for the newest write at or below a version. */
  | { readonly until: bigint }

/**
 * The state at one version of a snapshot. Its answers never change; once the version is pruned, reads throw
 * `version_pruned`, and once it is cut off, `version_truncated`.
 */
export interface AsyncStateView {
  readonly version: bigint
  /** Ledger of the snapshot. */
  readonly ledger: LedgerSummary
  /**
   * The newest write of each key at or below the version, in the order of the keys; undefined if the key was deleted or
   * never written. It takes one round, whatever the number of keys; calls of the same tick share a round. The caller
   * owns the bytes.
   * @throws `version_pruned`
   */
  load(keys: readonly Uint8Array[]): Promise<readonly (StateEntry | undefined)[]>
  /**
   * Reads up to `limit` entries of the version with a key prefix, in the order of the keys' bytes, starting at `start`.
   * A page may end earlier, at its limit of bytes or after many keys that the version lacks; `next` is then the `start`
   * of the next page.
   * @throws `version_pruned`
   */
  scan(prefix: Uint8Array, options?: ScanOptions): Promise<ScanPage>
}

/**
 * The ledger as it was when the snapshot was taken, for the reads of one request. Later commits do not show; versions
 * that are pruned later are `version_pruned`. If its newest versions are cut off, views of the other versions still
 * answer, and any other read that might see a version that was cut off throws `version_truncated`. A snapshot holds
 * nothing on the servers, so it need not be closed.
 */
export interface AsyncStateSnapshot {
  /** The ledger; undefined until the first commit. */
  readonly ledger: LedgerSummary | undefined
  readonly base: StoreBase | undefined
  /**
   * The state at a version, by default the latest. It takes no round.
   * @throws `no_ledger`, `version_not_found`, `version_pruned`
   */
  at(version?: bigint): AsyncStateView
  /**
   * Finds the block that a version belongs to. The newest block ends with the latest version of the snapshot.
   * @throws `no_ledger`, `version_not_found`, `version_pruned`
   */
  blockAt(version: bigint): Promise<Block>
  /**
   * Finds the block of a height; undefined if the window holds none.
   * @throws `no_ledger`; `version_pruned` if a prune may have taken it
   */
  blockByHeight(height: bigint): Promise<Block | undefined>
  /**
   * Finds the newest block at or before a time; undefined if all blocks of the window are later.
   * @throws `no_ledger`; `version_pruned` if a prune may have taken it
   */
  blockAtTime(timestampUsec: bigint): Promise<Block | undefined>
  /**
   * Reads the writes of a key that some version of the window sees, a page at a time: see `StateReader.history`.
   * @throws `no_ledger`; `version_pruned` if a prune overtook the requested versions
   */
  history(key: Uint8Array, options?: AsyncHistoryOptions): Promise<HistoryPage>
  /**
   * Finds the version of the nearest write of each key, in the order of the keys; undefined if its history has none. It
   * takes one round, whatever the number of keys.
   * @throws `no_ledger`; `version_pruned` if a prune overtook the version where the search begins, or may have taken a deletion
   *   that it would find
   */
  nearestWrites(keys: readonly Uint8Array[], search: WriteSearch): Promise<readonly (bigint | undefined)[]>
}

/** The reads that readers of state need of an asynchronous engine. */
export interface AsyncState {
  /**
   * The newest ledger that a server reported to this engine; undefined before the first snapshot. It takes no round.
   */
  readonly ledger: LedgerSummary | undefined
  /**
   * Takes a snapshot of the newest state. It is never older than a state that this engine returned before, nor than the
   * engine's commits. If a server reported the newest state within the last few milliseconds (20 by default), as with
   * many reads at once, it takes no round; otherwise one, which all callers of the same tick share.
   */
  snapshot(): Promise<AsyncStateSnapshot>
}
