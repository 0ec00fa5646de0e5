export { annotationToNote, noteToAnnotation, type ValueNote } from './annotation.js'
export {
  bytesToTransaction,
  isFunctionName,
  type KeptTransaction,
  TRANSACTION_KINDS,
  type TransactionKind,
  transactionToBytes,
} from './kept-transaction.js'
export {
  ACCUMULATOR_ROOT_KEY,
  CHECKPOINT_KEY,
  EPOCH_ENDING_PREFIX,
  epochEndingKey,
  isOwnKey,
  isSliceKey,
  isSliceLeftOutKey,
  isTransactionKey,
  SLICE_ACCOUNT_PREFIX,
  SLICE_DELETION_PREFIX,
  SLICE_KEY,
  SLICE_LEFT_OUT_KEY,
  SLICE_TABLE_PREFIX,
  SLICE_TYPE_PREFIX,
  STATE_ROOT_KEY,
  TRANSACTIONS_KEY,
  transactionKey,
} from './own-keys.js'
