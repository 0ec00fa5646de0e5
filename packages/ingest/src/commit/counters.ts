import { bytesOfEntries, bytesOfWrites, type VersionWrites } from '@ledger-state/core'
import type { SourceProgress, StatePart } from '@ledger-state/feed'

/** Counts of the data read from a source so far. */
export interface IngestCounters {
  readonly versions: number
  /** Entries of the state with which the source began. */
  readonly entries: number
  readonly writes: number
  /** Bytes of keys and values. */
  readonly bytes: number
  readonly latestVersion: bigint | undefined
}

/** Receives the progress of a long read. */
export interface ProgressReporter {
  /** Called after each part that was read. */
  update(counters: IngestCounters, progress: SourceProgress): void
  /** Called once when the reading ends, even if it fails. */
  finish(): void
}

export class CountedIngest implements IngestCounters {
  versions = 0
  entries = 0
  writes = 0
  bytes = 0
  latestVersion: bigint | undefined

  constructor(latestVersion?: bigint) {
    this.latestVersion = latestVersion
  }

  addState({ entries }: StatePart): void {
    this.entries += entries.length
    this.bytes += bytesOfEntries(entries)
  }

  addVersion(record: VersionWrites): void {
    this.addVersions([record], record.writes.length, bytesOfWrites(record.writes))
  }

  addVersions(records: readonly VersionWrites[], writes: number, bytes: number): void {
    this.versions += records.length
    this.writes += writes
    this.bytes += bytes
    this.latestVersion = records.at(-1)!.version
  }
}
