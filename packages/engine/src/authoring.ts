// Exports for authors of engines: checks of arguments and batches, and their errors, so that every engine refuses the
// same in the same words.
export { type CommitWatch, createCommitWatch } from './commit-watch.js'
export {
  duplicateKey,
  importNeedsEmptyStore,
  importReplaced,
  invalidArgument,
  storeClosed,
  storeCorrupt,
  storeFailed,
  storeLockedHere,
} from './errors.js'
export type { BlockEntry } from './ports/block-entry.js'
export {
  type AnnotatedValue,
  MAX_ANNOTATION_LENGTH,
  putStoredTail,
  storedTailLength,
  storedToValue,
  storedValueEnd,
  valueToStored,
} from './validation/stored-value.js'
export { addTruncation, nextTruncation } from './validation/truncations.js'
export {
  expectArray,
  expectBytes,
  expectCount,
  expectMark,
  expectObject,
  expectOneOf,
  expectOptions,
  expectString,
  expectU64,
  type HistoryRange,
  type ScanRange,
  toHistoryRange,
  toScanRange,
  validateTruncation,
} from './validation/validate-arguments.js'
export { validateBatch, validateImportBase, validateImportPart } from './validation/validate-batch.js'
export {
  expectBlockKept,
  expectKept,
  expectLedger,
  expectListable,
  isStepKept,
  keptPage,
  PRUNE_STEP_RECORDS,
  windowStart,
} from './validation/window.js'
export { expectSearchKept, toWriteRange, type WriteRange } from './validation/write-range.js'
