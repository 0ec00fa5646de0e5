export { engineToAsync } from './engine-to-async.js'
export {
  noLedger,
  type StateErrorCode,
  type StoreErrorCode,
  versionNotFound,
  versionPruned,
  versionTruncated,
} from './errors.js'
export { importState } from './import-state.js'
export { createMemoryEngine, createMemoryStore, type MemoryStore } from './memory-engine.js'
export { nearestInHistory, nearestWrite, type SearchingReader } from './nearest-write.js'
export type {
  AsyncSnapshot,
  AsyncStateReader,
  AsyncStateWriter,
  AsyncVersionsOptions,
  VersionsPage,
  WriteSearch,
} from './ports/async-engine-ports.js'
export type {
  AsyncErrorCode,
  AsyncHistoryOptions,
  AsyncState,
  AsyncStateSnapshot,
  AsyncStateView,
  HistoryPage,
  ScanPage,
} from './ports/async-state-port.js'
export type {
  CommitOptions,
  EngineView,
  ImportBase,
  ImportOptions,
  ListenerOptions,
  PruneOptions,
  PruneResult,
  StateEngineReader,
  StateImport,
  StateWriter,
  TruncateOptions,
  UnfinishedImport,
} from './ports/engine-ports.js'
export type { MergedWrites, StoredWrite } from './ports/merged-writes.js'
export {
  type Block,
  branchOf,
  type HistoryOptions,
  isSameLedger,
  type LedgerSummary,
  type Revision,
  type ScanOptions,
  type StateEntry,
  type StateReader,
  type StateView,
  type StoreBase,
  type Truncation,
} from './ports/state-port.js'
export { type EntryVisitor, type ParallelView, readEach } from './read-each.js'
export { scanFrom } from './scan-from.js'
export { isSkipped, type ScanStep, type SkippedKeys, type SteppingView, scanInSteps } from './scan-in-steps.js'
export { expectNotTruncated } from './validation/truncations.js'
export { MAX_KEY_LENGTH, MAX_VALUE_LENGTH } from './validation/validate-batch.js'
