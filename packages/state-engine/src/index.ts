export type { BlockInfo, KeyedEntry, VersionWrites, Write } from '@ledger-state/core'
export type {
  Block,
  CommitOptions,
  EngineView,
  HistoryOptions,
  ImportBase,
  ImportOptions,
  LedgerSummary,
  PruneOptions,
  PruneResult,
  Revision,
  ScanOptions,
  StateEngineReader,
  StateEntry,
  StateImport,
  StateReader,
  StateView,
  StateWriter,
  StoreBase,
  StoreErrorCode,
  TruncateOptions,
  Truncation,
  UnfinishedImport,
} from '@ledger-state/engine'
export type { CheckOptions, CheckReport } from './check/check-store.js'
export type { Compress } from './lmdb/compress.js'
export type { Durability } from './lmdb/durability.js'
export { STORE_FILE, UNFINISHED_STORE_FILE } from './lmdb/lmdb-store.js'
export { memoryBytes } from './lmdb/memory-bytes.js'
export { withSystemErrorsAsync } from './lmdb/store-errors.js'
export {
  type LmdbEngineReader,
  openStateEngine,
  openStateEngineReader,
  type SnapshotOptions,
  type StateEngine,
  type StateEngineOptions,
  type WriterOptions,
} from './open-state-engine.js'
export type { LevelStats, StoreStats } from './read/store-stats.js'
export { type Assembly, openAssembly } from './sharing/assembly.js'
export type { PlacedSegment } from './sharing/create-store.js'
export { type JoinOptions, joinStores } from './sharing/join-stores.js'
export { keyRangeOf } from './sharing/key-range.js'
export type { StoreFacts, StoreSegment, StoreSegments } from './sharing/store-segments.js'
export { isStoreFile } from './store-files.js'
