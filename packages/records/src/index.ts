export { annotationToNote, noteToAnnotation, type ValueNote } from './annotation.js'
export {
  type ChangedStores,
  decodeChangedStores,
  encodeChangedStores,
  storeNameOf,
  storeNameToBytes,
} from './changed-stores.js'
export { bytesToCheckpoint, checkpointToBytes } from './checkpoint.js'
export type { Codec } from './codec.js'
export {
  type CommitMark,
  type Contradiction,
  decodeCommitMark,
  encodeCommitMark,
  type PendingWrite,
  type RangeOfLedger,
  type ResumeToken,
  type SignedRange,
  WRITES_HASH_LENGTH,
} from './commit-mark.js'
export {
  addressIn,
  type CoinName,
  coinNameOf,
  coinOfRow,
  coinStoreKey,
  coinTypeIn,
  isObjectKey,
  objectKey,
  readCoinType,
} from './holdings/holding-keys.js'
export { coinChanges, type IndexedObject, objectChanges } from './holdings/index-changes.js'
export {
  FACTS_LENGTH,
  FACTS_OWNER_AT,
  isStoreFacts,
  ObjectFacts,
  readFacts,
  writeFacts,
} from './holdings/object-facts.js'
export {
  type CoinStore,
  type FungibleStore,
  type HeldObject,
  isCoinStore,
  readCoinStore,
  readHeldObject,
} from './holdings/stored-holding.js'
export {
  hasImportedPart,
  type ImportedPart,
  isMarkOfImport,
  isMarkOfSlice,
  markOfImport,
  sourceMarkOf,
} from './import-mark.js'
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
  affectedAccountKey,
  CHANGED_STORES_PREFIX,
  CHECKPOINT_KEY,
  canNoteDeletion,
  changedStoresKey,
  decodeRetained,
  EPOCH_ENDING_PREFIX,
  encodeRetained,
  endedIn,
  endedKey,
  epochEndingKey,
  epochOfKey,
  eventStreamKey,
  eventTypeKey,
  HOLDINGS_KEY,
  HOLDINGS_PREFIX_LENGTH,
  type HoldingsFamily,
  holdingsKey,
  holdingsPrefix,
  isHoldingsKey,
  isOwnKey,
  isRowOfHeld,
  isSliceKey,
  isSliceLeftOutKey,
  isTransactionKey,
  isWholeTransactionKey,
  KEY_FAMILIES,
  type KeyFamily,
  MEMBER_ID_AT,
  memberIdOf,
  memberKey,
  memberKindOf,
  nonceKey,
  ownerOfChangedStores,
  RETAINED_KEY,
  RUN_VERSIONS,
  retainedBlockKey,
  retainedIndexPrefix,
  SLICE_ACCOUNT_PREFIX,
  SLICE_KEY,
  SLICE_LEFT_OUT_KEY,
  SLICE_TABLE_PREFIX,
  SLICE_TYPE_PREFIX,
  STATE_ROOT_KEY,
  sequenceNumberKey,
  sliceDeletionKey,
  sliceTypeKey,
  sliceTypeNumberOf,
  TRANSACTIONS_KEY,
  transactionBlockKey,
  transactionHashKey,
  transactionHashMark,
  transactionKey,
  versionOfKey,
  WHOLE_TRANSACTIONS_KEY,
  withVersion,
} from './own-keys.js'
export { readKeptTransaction } from './read-kept-transaction.js'
export { readSent, type SentTransaction } from './sent-transaction.js'
export { decodeSliceDefinition, encodeSliceDefinition, type SliceDefinition } from './slice/definition.js'
export { decodeSliceLeftOut, encodeSliceLeftOut, type SliceLeftOut } from './slice/left-out.js'
export {
  decodeMember,
  encodeMember,
  MEMBER_REASONS,
  type MemberKind,
  type MemberReason,
  type MemberRecord,
} from './slice/member.js'
export { decodeValueType, encodeValueType } from './slice/value-type.js'
export type { TrustedState } from './trusted-state.js'
export { type WholeTransaction, withValues, withValuesInSteps } from './whole-transaction.js'
export {
  ALL_TRANSACTION_INDEXES,
  decodeWholeTransactionsMark,
  encodeWholeTransactionsMark,
  TRANSACTION_INDEXES,
  type TransactionIndex,
  type WholeTransactionsMark,
  wholeTransactionsBegin,
} from './whole-transactions-mark.js'
