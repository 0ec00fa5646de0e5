import type { SourceProgress } from '@ledger-state/feed'
import type { ProgressReporter } from './counters.js'
import type { PruneObserver } from './prune-turn.js'
import type { SliceOptions } from './slices/slice-filter.js'

/** Settings of an ingest: its versions, its window, and who receives progress and notices. */
export interface IngestOptions {
  /** First version to ingest, for an empty store. */
  readonly from?: bigint | undefined
  /** Last version to ingest. */
  readonly to?: bigint | undefined
  /** Chain id for a source that does not carry it. */
  readonly chainId?: bigint | number | undefined
  /** Lets an empty store begin above version 0 without a state, as if nothing had been written before. */
  readonly assumeEmptyBase?: boolean | undefined
  /**
   * Keeps the transactions of the versions that write, where the source carries them: `KeptTransaction` of core. A store that keeps
   * them continues without being asked. False by default.
   */
  readonly keepTransactions?: boolean | undefined
  /**
   * Keeps a slice of the ledger in a store that is empty. A store that keeps a slice continues with it also without this option;
   * with another slice than its own it is refused.
   */
  readonly only?: SliceOptions | undefined
  /** Window in versions, to which the store is pruned between commits. */
  readonly retain?: bigint | undefined
  /** Stops at the end of a block, unless the source takes longer to get there; what was read is committed. */
  readonly signal?: AbortSignal | undefined
  readonly progress?: ProgressReporter | undefined
  readonly observer?: IngestObserver | undefined
  /** Receives one line for people. */
  readonly onNotice?: ((message: string) => void) | undefined
}

/** Receives what an ingest has done, for metrics. */
export interface IngestObserver extends PruneObserver {
  /** What one commit took: `bytes` are those of keys and values. */
  onCommit(done: {
    readonly versions: number
    readonly writes: number
    readonly bytes: number
    readonly seconds: number
  }): void
  /** Called when the source has reported its progress. */
  onSourceProgress(progress: SourceProgress): void
}
