export type {
  BlockInfo,
  LedgerInfo,
  StateEntry,
  StateReader,
  StateView,
  VersionWrites,
  Write,
} from '@ledger-state/core'
export type { Durability } from './lmdb/lmdb-store.js'
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
export { createMemoryEngine } from './port/memory-engine.js'
export type {
  Block,
  CommitOptions,
  EngineView,
  ImportBase,
  ImportOptions,
  KeyedEntry,
  PruneOptions,
  PruneResult,
  Revision,
  StateEngineReader,
  StateImport,
  StateWriter,
  StoreBase,
} from './port/ports.js'
export { MAX_KEY_LENGTH, MAX_VALUE_LENGTH } from './port/validate-batch.js'
export { importState } from './write/import-state.js'
