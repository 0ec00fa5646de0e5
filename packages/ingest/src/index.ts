export { newestCheckpoint } from './checkpoints.js'
export type { IngestCounters, ProgressReporter } from './counters.js'
export { type EndingRange, readEndingRange } from './ending-range.js'
export { type KeptEnding, readEpochEndings } from './epoch-endings.js'
export type { IngestErrorCode } from './errors.js'
export { type FollowOptions, followSource } from './follow-source.js'
export type { IngestObserver, IngestOptions } from './ingest-options.js'
export { ingestSource } from './ingest-source.js'
export { PRUNE_TURN_ENTRIES, type PruneObserver, pruneTurn } from './prune-turn.js'
export { type RejectedVersions, rejectUnsigned } from './reject-unsigned.js'
export type { SliceOptions } from './slices/slice-filter.js'
export { ingestSliceOfStore, type SliceOfStoreOptions } from './slices/slice-of-store.js'
export {
  measureMember,
  readSliceLines,
  readSliceMembers,
  readSliceStatus,
  type SliceStatus,
  sliceDigestOf,
} from './slices/slice-status.js'
export { type VerifiedSource, type VerifySourceOptions, verifySource } from './verify-source.js'
