/// <reference lib="esnext.disposable" preserve="true" />
// Declarations of a program without the types of Node.js find `AsyncDisposable` by it.
import type { VersionWrites } from '@ledger-state/core'
import type {
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
import type { LedgerSummary } from './state-port.js'

// The ports of asynchronous engines: `AsyncState`, which is all that readers of state need, and the ports that an
// engine has in addition. They mirror `StateEngineReader` and `StateWriter`. After `close`, every call fails with
// `store_closed`.

export type { AsyncHistoryOptions, AsyncStateView, HistoryPage, ScanPage, WriteSearch }

/** Bounds of a page of `AsyncSnapshot.versions`. */
export interface AsyncVersionsOptions {
  /** Most versions of a page; by default as many as fit. */
  readonly limit?: number | undefined
}

/** A page of versions and their writes: at least one version. */
export interface VersionsPage {
  readonly versions: readonly VersionWrites[]
  /** First version of the next page. Undefined after the last. */
  readonly next: bigint | undefined
}

/** A snapshot of an engine, with more reads than readers of state need. */
export interface AsyncSnapshot extends AsyncStateSnapshot {
  /** Same as `StateEngineReader.mark`. */
  readonly mark: Uint8Array | undefined
  /**
   * Reads the writes of versions, a page at a time: see `StateEngineReader.versions`.
   * @throws `no_ledger`, `version_not_found`; `version_pruned` unless all of them are above the oldest version
   */
  versions(first: bigint, last: bigint, options?: AsyncVersionsOptions): Promise<VersionsPage>
}

/** An asynchronous engine, open for reading. */
export interface AsyncStateReader extends AsyncState, AsyncDisposable {
  /** Discriminant: reads of this engine are promises; reads of a `StateEngineReader` are synchronous. */
  readonly kind: 'async'
  snapshot(): Promise<AsyncSnapshot>
  /**
   * Calls a listener after commits, prunes and truncations, as `StateEngineReader.onCommit` does. The engine checks
   * several times a second for changes by other processes.
   */
  onCommit(listener: (ledger: LedgerSummary) => void, options?: ListenerOptions): () => void
  /** Closes the connections of the engine, and releases the lock of a writer. Later calls do nothing. */
  close(): Promise<void>
}

/** The writer of an asynchronous store. A store has one writer at a time. Everything else is as in `StateWriter`. */
export interface AsyncStateWriter extends AsyncStateReader {
  /**
   * Makes consecutive versions visible and durable, all or none, exactly once. If the answer of the server is lost, the
   * engine finds out whether the versions are there.
   * @throws as `StateWriter.commit`; `store_locked` if another writer has taken over; `unavailable` if no server says
   *   whether the versions are there: the next call begins by finding that out
   */
  commit(versions: readonly VersionWrites[], options: CommitOptions): Promise<void>
  /**
   * Same as `StateWriter.prune`. A call without `maxEntries` works in steps; reads and commits take place between them.
   */
  prune(retainVersions: bigint, options?: PruneOptions): Promise<PruneResult>
  /** Same as `StateWriter.truncateTo`. Like a commit, it is done exactly once. */
  truncateTo(version: bigint, options?: TruncateOptions): Promise<void>
  /** Same as `StateWriter.putMark`. */
  putMark(mark: Uint8Array): Promise<void>
  /** Same as `StateWriter.beginImport`. */
  beginImport(version: bigint, options?: ImportOptions): Promise<StateImport>
  /** Same as `StateWriter.unfinishedImport`. */
  unfinishedImport(): Promise<UnfinishedImport | undefined>
}
