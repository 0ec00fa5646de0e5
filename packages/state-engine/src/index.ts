export type {
  BlockInfo,
  LedgerInfo,
  StateEntry,
  StateReader,
  StateView,
  VersionWrites,
  Write,
} from '@ledger-state/core'
export type { CheckOptions, CheckReport } from './check-store.js'
export { importState } from './import-state.js'
export type { Durability } from './lmdb-store.js'
export { createMemoryEngine } from './memory-engine.js'
export {
  type LmdbEngineReader,
  openStateEngine,
  openStateEngineReader,
  type StateEngine,
  type StateEngineOptions,
  type WriterOptions,
} from './open-state-engine.js'
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
} from './ports.js'
export { isSmallBesideMemory } from './read-ahead.js'
export type { StoreStats } from './store-stats.js'
export { MAX_KEY_LENGTH, MAX_VALUE_LENGTH } from './validate-batch.js'
