/// <reference lib="esnext.disposable" preserve="true" />
// Declarations of a program without the types of Node.js find `AsyncDisposable` by it.
import type { VersionWrites } from '@ledger-state/core'
import type {
  AsyncErrorCode,
  AsyncHistoryOptions,
  AsyncState,
  AsyncStateSnapshot,
  AsyncStateView,
  HistoryPage,
  ScanPage,
  WriteSearch,
} from './async-state-port.js'
import type {
  CommitOptions,
  ImportOptions,
  ListenerOptions,
  PruneOptions,
  PruneResult,
  StateImport,
  TruncateOptions,
  UnfinishedImport,
} from './engine-ports.js'
import type { LedgerInfo } from './state-port.js'

// The ports of engines whose reads are promises: `AsyncState`, which is all that readers of state need, and what
// an engine has in addition. They mirror `StateEngineReader` and `StateWriter`. After `close` all is `store_closed`.

export type { AsyncErrorCode, AsyncHistoryOptions, AsyncStateView, HistoryPage, ScanPage, WriteSearch }

/** How many versions a page of `AsyncSnapshot.versions` has. */
export interface AsyncVersionsOptions {
  /** Most versions to answer; by default what fits into a page. */
  readonly limit?: number | undefined
}

/** One page of what versions wrote: at least one version. */
export interface VersionsPage {
  readonly versions: readonly VersionWrites[]
  /** The first version of the next page. Undefined after the last. */
  readonly next: bigint | undefined
}

/** A snapshot with more reads. */
export interface AsyncSnapshot extends AsyncStateSnapshot {
  /** The mark of the newest commit. */
  readonly mark: Uint8Array | undefined
  /**
   * What versions wrote, as `StateEngineReader.versions`, a page at a time.
   * @throws `no_ledger`, `version_not_found`; `version_pruned` unless all of them are above the oldest version
   */
  versions(first: bigint, last: bigint, options?: AsyncVersionsOptions): Promise<VersionsPage>
}

/** An engine whose reads are promises, open for reading. */
export interface AsyncStateReader extends AsyncState, AsyncDisposable {
  /** Discriminant: the reads of a `StateEngineReader` are synchronous, these are promises. */
  readonly kind: 'async'
  snapshot(): Promise<AsyncSnapshot>
  /**
   * Calls back after commits, prunes and truncations, whoever makes them, as `StateEngineReader.onCommit`. Those of other processes
   * are noticed by looking, some times a second.
   */
  onCommit(listener: (ledger: LedgerInfo) => void, options?: ListenerOptions): () => void
  /** Closes the connections of the engine; of a writer, also its lock. Later calls do nothing. */
  close(): Promise<void>
}

/** The one writer of a store, of an engine whose reads are promises. Everything else is as in `StateWriter`. */
export interface AsyncStateWriter extends AsyncStateReader {
  /**
   * Makes consecutive versions visible and durable, all or none, exactly once: where the answer of the server is lost, the
   * engine finds out whether the versions are there.
   * @throws as `StateWriter.commit`; `store_locked` if another writer has taken over; `unavailable` where no server
   *   says whether the versions are there: the next call begins by finding it out
   */
  commit(versions: readonly VersionWrites[], options: CommitOptions): Promise<void>
  /**
   * Same as `StateWriter.prune`. A call without `maxEntries` works in steps; readers and commits get their turn
   * between them.
   */
  prune(retainVersions: bigint, options?: PruneOptions): Promise<PruneResult>
  /** Same as `StateWriter.truncateTo`; exactly once, as a commit. */
  truncateTo(version: bigint, options?: TruncateOptions): Promise<void>
  /** Same as `StateWriter.beginImport`. */
  beginImport(version: bigint, options?: ImportOptions): Promise<StateImport>
  /** Same as `StateWriter.unfinishedImport`. */
  unfinishedImport(): Promise<UnfinishedImport | undefined>
}
