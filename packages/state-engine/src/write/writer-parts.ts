import type { RecordBuilder } from '../bytes/record.js'
import type { MergeScheduler } from '../compaction/merge-scheduler.js'
import type { SegmentNumbers } from '../compaction/segment-numbers.js'
import type { AtFailpoint } from '../failpoints/failpoints.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { StoreTransactions } from '../lmdb/store-transactions.js'
import type { SegmentFiles } from '../read/segment-slices.js'
import type { StoreReads } from '../read/store-reads.js'
import type { ObsoleteSegments } from '../segments/obsolete-segments.js'
import type { WalAppender } from '../wal/appender.js'

/** Methods of the reads of an engine that its writer needs. */
export type WriterReads = Pick<StoreReads, 'snapshot' | 'blockAt' | 'noticeCommit' | 'forgetSnapshot'>

/** Parts that the writers of commits, imports, prunes and truncations share. */
export interface WriterParts {
  readonly store: LmdbStore
  readonly builder: RecordBuilder
  readonly reads: WriterReads
  readonly log: WalAppender
  /** Numbers of new segment files. */
  readonly numbers: SegmentNumbers
  /** Removes segment files that the store does not name any more. */
  readonly obsolete: ObsoleteSegments
  /** Open files of the import under way. Its next part opens them again if they were closed. */
  readonly importFiles: SegmentFiles
  readonly transactions: StoreTransactions
  /** Writes full segments of the memtable into files, and merges files. */
  readonly merges: MergeScheduler
  readonly atFailpoint: AtFailpoint
  /** Whether other versions precede the store's: `WriterOptions.part`. */
  readonly isPart: boolean
  /** Runs work after all earlier work on commits and on their files. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
  /** Called after each change that readers see. */
  readonly onChange: () => void
  /** Checks that the engine is open. @throws `store_closed` if it is not */
  expectOpen(): void
}
