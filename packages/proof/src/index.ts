export { beginSha3, sha3 } from '#sha3'
export type { ProofErrorCode } from './errors.js'
export { namedObjectAddress, pairedMetadataAddress, primaryStoreAddress } from './hashes/derived-address.js'
export type { ArenaKind, HashArena } from './hashes/hash-arena.js'
export { HashBatch } from './hashes/hash-batch.js'
export { HASH_LENGTH, readHashes, writeHashes } from './hashes/hash-bytes.js'
export {
  ACCUMULATOR_PLACEHOLDER,
  DEFAULT_HASH_SALT,
  expectHash,
  type HashName,
  LedgerHasher,
  type LedgerHasherOptions,
  SPARSE_MERKLE_PLACEHOLDER,
} from './hashes/ledger-hasher.js'
export {
  type CheckedCheckpoint,
  type CheckedInfo,
  checkCheckpoint,
  checkInfoProof,
  type InfoProof,
  readCheckpoint,
  type SignedCheckpoint,
  writeCheckpoint,
} from './ledger/checkpoint.js'
export {
  type EpochState,
  type LedgerInfo,
  readLedgerInfo,
  type SignedLedgerInfo,
  signedLedgerInfoToBytes,
  type Validator,
} from './ledger/ledger-info.js'
export type { InfoProofJson } from './ledger/signed-info.js'
export {
  peekTransactionHash,
  readOutcome,
  readTransactionInfo,
  type TransactionInfo,
} from './ledger/transaction-info.js'
export {
  checkEventProof,
  checkTransactionProof,
  type EventProof,
  type EventProofJson,
  eventProofToJson,
  jsonToEventProof,
  jsonToTransactionProof,
  readEventProof,
  readTransactionProof,
  type TransactionProof,
  type TransactionProofJson,
  transactionProofToJson,
  transactionProofToJsonPieces,
  transactionProofToPieces,
  writeEventProof,
  writeTransactionProof,
} from './ledger/transaction-proof.js'
export { computeWaypoint, versionOfWaypoint, type WaypointParts } from './ledger/waypoint.js'
export { type Bls, PUBLIC_KEY_LENGTH, SIGNATURE_LENGTH, type SignedStatement } from './signatures/bls.js'
export { ENDING_BYTES_AT_ONCE, ENDINGS_AT_ONCE, EpochChangeVerifier } from './signatures/epoch-change-verifier.js'
export { createPortableBls } from './signatures/portable-bls.js'
export type { SignedPower } from './signatures/validator-set.js'
export {
  checkStateProof,
  checkStateProofInSteps,
  jsonToStateProof,
  readStateProof,
  type StateProof,
  type StateProofJson,
  stateProofToJson,
  stateProofToJsonPieces,
  stateProofToPieces,
  writeStateProof,
} from './state/state-proof.js'
export {
  checkValuesProof,
  checkValuesProofInSteps,
  joinValues,
  jsonToValuesProof,
  type ProvenValue,
  readValuesProof,
  type ValuesProof,
  type ValuesProofJson,
  valuesProofToJson,
  valuesProofToJsonPieces,
  valuesProofToPieces,
  writeValuesProof,
} from './state/values-proof.js'
export { AccumulatorFrontier, MAX_LEAVES } from './trees/accumulator.js'
export { accumulatorPath, type PathSurroundings, rootByPath } from './trees/accumulator-path.js'
export {
  type PartPath,
  PartTree,
  SAVED_LEAF_LENGTH,
  SUBTREE_EMPTY,
  SUBTREE_INNER,
  SUBTREE_LEAF,
} from './trees/part-tree.js'
export { SparseMerkleFrontier } from './trees/sparse-merkle.js'
export { rootOfStatePath, type StateLeaf, type StatePath } from './trees/state-path.js'
export { TopTree } from './trees/top-tree.js'
