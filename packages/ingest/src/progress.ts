import type { SourceProgress } from '@ledger-state/feed'

/** What was taken in so far. */
export interface IngestCounters {
  readonly versions: number
  /** Entries of a state that the source began with. */
  readonly entries: number
  readonly writes: number
  /** Bytes of keys and values. */
  readonly bytes: number
  readonly latestVersion: bigint | undefined
}

/** Told how far a long read of a source has come. */
export interface ProgressReporter {
  update(counters: IngestCounters, progress: SourceProgress): void
  finish(): void
}
