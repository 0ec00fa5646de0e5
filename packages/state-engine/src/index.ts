export type {
  BlockInfo,
  LedgerInfo,
  StateEntry,
  StateReader,
  StateView,
  VersionWrites,
  Write,
} from '@ledger-state/core'
export { createMemoryEngine } from './memory-engine.js'
export {
  openStateEngine,
  openStateEngineReader,
  type StateEngine,
  type StateEngineOptions,
  type StateEngineReader,
  type StoreStats,
} from './open-state-engine.js'
export type { CommitOptions, PruneResult, StateWriter } from './ports.js'
export { MAX_KEY_LENGTH, MAX_VALUE_LENGTH } from './validate-batch.js'
