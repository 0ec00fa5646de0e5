// What engines outside of this package need, to refuse what the engines of this package refuse, in the same words.
export { createCommitWatch } from './commit-watch.js'
export {
  duplicateKey,
  importNeedsEmptyStore,
  importReplaced,
  invalidArgument,
  storeClosed,
  storeCorrupt,
  storeFailed,
} from './errors.js'
export { addTruncation, expectNotTruncated, nextTruncation } from './truncations.js'
export {
  expectArray,
  expectBytes,
  expectCount,
  expectObject,
  expectU64,
  toHistoryRange,
  toScanRange,
  validateTruncation,
} from './validate-arguments.js'
export { validateBatch, validateImportBase, validateImportPart } from './validate-batch.js'
export { expectKept, expectLedger, expectListable, windowStart } from './window.js'
