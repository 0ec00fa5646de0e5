import type { LedgerSource, SourceProgress } from '@ledger-state/feed'
import type { TransactionIndex } from '@ledger-state/records'
import type { SliceOptions } from '@ledger-state/slices/take'
import type { PruneObserver } from '../prune/prune-turn.js'
import type { ProgressReporter } from './counters.js'

/**
 * Parts of transactions that a store keeps: nothing, five facts of each that writes state (`KeptTransaction` of
 * `@ledger-state/records`), or everything (`WholeTransaction`).
 */
export type KeptParts = 'none' | 'summary' | 'whole'

/** Options of an ingest: its versions, its window, and callbacks for progress and notices. */
export interface IngestOptions {
  /** First version to ingest into an empty store. */
  readonly from?: bigint | undefined
  /** Last version to ingest. */
  readonly to?: bigint | undefined
  /**
   * Range of versions with which an empty store is filled, to be joined with stores of other ranges: all blocks that
   * begin within it. It takes the place of `from` and `to`, and needs a source that proves its versions. The store has
   * no index of holdings and no hash of all writes, which depend on earlier versions. It has commits of the same
   * versions however often the ingest is stopped.
   */
  readonly range?: { readonly from: bigint; readonly to: bigint } | undefined
  /** Chain id, for a source that does not carry it. */
  readonly chainId?: bigint | number | undefined
  /** Whether an empty store may begin above version 0 without a state, as if nothing had been written before. */
  readonly assumeEmptyBase?: boolean | undefined
  /**
   * Parts of the transactions to keep, if the source carries them. By default a new store keeps them whole, and a store
   * with versions continues as it began. A store that keeps more than this option says continues to do so. A slice
   * keeps the whole transactions that its members sent or that changed them.
   */
  readonly keepTransactions?: KeptParts | undefined
  /**
   * Indexes of whole transactions to keep; all by default. A store with whole transactions continues with those that it
   * has, and refuses others. Not for a `range`, which has all.
   */
  readonly transactionIndexes?: readonly TransactionIndex[] | undefined
  /**
   * Number of versions whose whole transactions are kept, if that is more than `retain`. Transactions that are stored
   * stay in the store after their states are pruned. By default they are pruned with the state.
   */
  readonly retainTransactions?: bigint | undefined
  /**
   * Whether to write the index of holdings, which is derived from the state: it lists the holdings of each account.
   * True by default. A store with versions without the index does not begin it; `false` ends it.
   */
  readonly holdings?: boolean | undefined
  /**
   * Slice of the ledger to keep, for an empty store. A store that keeps a slice keeps doing so without this option, and
   * refuses another slice.
   */
  readonly only?: SliceOptions<LedgerSource> | undefined
  /** Number of versions to which the store is pruned between commits. */
  readonly retain?: bigint | undefined
  /**
   * Stops the ingest at the end of a block, unless the source takes too long to reach it. All versions read so far are
   * committed.
   */
  readonly signal?: AbortSignal | undefined
  readonly progress?: ProgressReporter | undefined
  readonly observer?: IngestObserver | undefined
  /** Called with one line for people. */
  readonly onNotice?: ((message: string) => void) | undefined
}

/** Callbacks for metrics about the work of an ingest. */
export interface IngestObserver extends PruneObserver {
  /** Called after each commit; `bytes` counts keys and values. */
  onCommit(done: {
    readonly versions: number
    readonly writes: number
    readonly bytes: number
    readonly seconds: number
  }): void
  /** Called with the source's progress when that has changed. */
  onSourceProgress(progress: SourceProgress): void
}
