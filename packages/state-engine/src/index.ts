export type {
  Block,
  BlockInfo,
  HistoryOptions,
  KeyedEntry,
  LedgerInfo,
  Revision,
  ScanOptions,
  StateEntry,
  StateReader,
  StateView,
  StoreBase,
  Truncation,
  VersionWrites,
  Write,
} from '@ledger-state/core'
export type { Durability } from './lmdb/durability.js'
export { isSmallBesideMemory } from './lmdb/read-ahead.js'
export type { CheckOptions, CheckReport } from './maintain/check-store.js'
export type { StoreStats } from './maintain/store-stats.js'
export {
  type LmdbEngineReader,
  openStateEngine,
  openStateEngineReader,
  type StateEngine,
  type StateEngineOptions,
  type WriterOptions,
} from './open-state-engine.js'
export { engineToRemote } from './port/engine-to-remote.js'
export type { StoreErrorCode } from './port/errors.js'
export { importState } from './port/import-state.js'
export { createMemoryEngine, createMemoryStore, type MemoryStore } from './port/memory-engine.js'
export type {
  CommitOptions,
  EngineView,
  ImportBase,
  ImportOptions,
  PruneOptions,
  PruneResult,
  StateEngineReader,
  StateImport,
  StateWriter,
  TruncateOptions,
} from './port/ports.js'
export type {
  HistoryPage,
  RemoteErrorCode,
  RemoteHistoryOptions,
  RemoteSnapshot,
  RemoteStateReader,
  RemoteStateView,
  RemoteStateWriter,
  RemoteVersionsOptions,
  ScanPage,
  VersionsPage,
} from './port/remote-ports.js'
export { MAX_KEY_LENGTH, MAX_VALUE_LENGTH } from './port/validate-batch.js'
