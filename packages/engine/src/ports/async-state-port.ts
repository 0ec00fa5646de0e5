import type { KeyedEntry } from '@ledger-state/core'
import type { Block, HistoryOptions, LedgerInfo, Revision, ScanOptions, StateEntry, StoreBase } from './state-port.js'

// What readers of state need of an engine whose reads are promises, because the state is on other machines. It mirrors
// `StateReader`, with three differences:
// - A snapshot pins one state of the ledger. All reads of a request go through one snapshot, so they agree with each other.
// - Reads take many questions at once, because a round costs more than an answer.
// - Lists come in pages, bounded by bytes.
// Each read is one round. The server that answers it decides in the same statement whether it may: a replica that has not
// yet the version of a read is not believed, and a version that was pruned meanwhile is `version_pruned`.
//
// Every method that returns a promise may reject with `unavailable` (see `AsyncErrorCode`), within the patience of the
// engine (2 s by default), and works again by itself once the servers answer.

/** The codes that engines whose reads are promises add to `StateErrorCode` and `StoreErrorCode`. */
export type AsyncErrorCode =
  /** No server answered in time. Nothing is said of the state; the same call may succeed later. */
  'unavailable'

/** One page of a scan: what was asked for up to a limit of entries or bytes. */
export interface ScanPage {
  readonly entries: readonly KeyedEntry[]
  /** The `start` of the next page. Undefined if the scan is at its end, or has as many entries as its limit. */
  readonly next: Uint8Array | undefined
}

export interface AsyncHistoryOptions extends HistoryOptions {
  /** Most revisions to answer; by default what fits into a page. */
  readonly limit?: number | undefined
}

/** One page of the history of a key. */
export interface HistoryPage {
  readonly revisions: readonly Revision[]
  /** The `last` of the next page, or its `first` where the oldest come first. Undefined at the end of the history. */
  readonly next: bigint | undefined
}

/** Version at which a search for writes begins, and its direction. */
export type WriteSearch =
  /** Searches for the first write above a version, up to `last`. */
  | { readonly above: bigint; readonly last: bigint }
  /** Searches for the newest write at or below a version. */
  | { readonly until: bigint }

/**
 * The state at one version of a snapshot. Its answers never change; once the version is pruned they are `version_pruned`,
 * once it is cut off `version_truncated`.
 */
export interface AsyncStateView {
  readonly version: bigint
  /** That of the snapshot. */
  readonly ledger: LedgerInfo
  /**
   * The newest write of each key at or below the version, in the order of the keys; undefined if the key was deleted
   * or never written. One round, whatever the number of keys; calls of the same tick share one. The caller owns the bytes.
   * @throws `version_pruned`
   */
  load(keys: readonly Uint8Array[]): Promise<readonly (StateEntry | undefined)[]>
  /**
   * The entries of the version whose keys begin with a prefix, in the order of the keys' bytes, from `start` on, up to
   * `limit` entries. A page may end before; `next` is then where to continue.
   * @throws `version_pruned`
   */
  scan(prefix: Uint8Array, options?: ScanOptions): Promise<ScanPage>
}

/**
 * What one request sees: the ledger as it was when the snapshot was taken. What is committed later does not show; what is
 * pruned later is `version_pruned`. Once its newest versions are cut off, views of the others continue, and every other read
 * that may see a version that was cut off is `version_truncated`. It holds nothing on the servers, so that it need not be closed.
 */
export interface AsyncStateSnapshot {
  /** Undefined until the first commit. */
  readonly ledger: LedgerInfo | undefined
  readonly base: StoreBase | undefined
  /**
   * The state at a version, by default the latest. No round.
   * @throws `no_ledger`, `version_not_found`, `version_pruned`
   */
  at(version?: bigint): AsyncStateView
  /**
   * The block that a version belongs to. The newest block ends with the latest version of the snapshot.
   * @throws `no_ledger`, `version_not_found`, `version_pruned`
   */
  blockAt(version: bigint): Promise<Block>
  /** The block of a height; undefined if the window holds none. @throws `no_ledger` */
  blockByHeight(height: bigint): Promise<Block | undefined>
  /** The newest block at or before a time; undefined if all blocks of the window are later. @throws `no_ledger` */
  blockAtTime(timestampUsec: bigint): Promise<Block | undefined>
  /**
   * The writes of a key that some version of the window sees, as `StateReader.history`, a page at a time.
   * @throws `no_ledger`; `version_pruned` if a prune overtook what is asked for
   */
  history(key: Uint8Array, options?: AsyncHistoryOptions): Promise<HistoryPage>
  /**
   * The version of the nearest write of each key, in the order of the keys; undefined if its history has none. One
   * round, whatever the number of keys.
   * @throws `no_ledger`; `version_pruned` if a prune overtook the version where the search begins
   */
  nearestWrites(keys: readonly Uint8Array[], search: WriteSearch): Promise<readonly (bigint | undefined)[]>
}

/** What readers of state need of an engine whose reads are promises. */
export interface AsyncState {
  /** The newest ledger that a server reported to this engine. No round; undefined before the first snapshot. */
  readonly ledger: LedgerInfo | undefined
  /**
   * The newest state. No round if the newest state was learnt within the last few milliseconds (20 by default), as it is
   * with many reads at once; otherwise one, which all that wait in the same tick share. Never older than a state that this
   * engine returned before, nor than its own commits.
   */
  snapshot(): Promise<AsyncStateSnapshot>
}
