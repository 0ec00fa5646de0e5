export { type IngestObserver, type IngestOptions, ingestSource } from './ingest-source.js'
export type { IngestCounters, ProgressReporter } from './progress.js'
export { PRUNE_TURN_ENTRIES, type PruneObserver, pruneTurn } from './prune-turn.js'
export { type VerifiedSource, type VerifyOptions, verifySource } from './verify-source.js'
