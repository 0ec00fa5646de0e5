export { computeEventRoot, EventTree, eventRootInSteps } from './trees/event-root.js'
export { type BcsList, readBcsList } from './wire/bcs-list.js'
export {
  type ContractEvent,
  type EventHead,
  type EventKey,
  readEvent,
  readEventHead,
  readEvents,
} from './wire/events.js'
export { type Execution, type ExecutionModule, type ExecutionStatus, readExecution } from './wire/execution.js'
export type { AnyPublicKey, AnySignature } from './wire/transaction/any-key.js'
export type {
  AccountAuthenticator,
  Ed25519Authenticator,
  Signers,
  TransactionAuthenticator,
} from './wire/transaction/authenticator.js'
export { type AuxiliaryInfo, readAuxiliaryInfo } from './wire/transaction/auxiliary-info.js'
export type { BlockEpilogue, BlockMetadata, Randomness, StateCheckpoint } from './wire/transaction/block-transaction.js'
export type {
  EncryptedPayload,
  EntryFunction,
  Executable,
  ExtraConfig,
  MultisigPayload,
  Payload,
  Script,
  VersionedPayload,
} from './wire/transaction/payload.js'
export {
  SCRIPT_ARGUMENT_TYPES,
  type ScriptArgument,
  type ScriptArgumentType,
} from './wire/transaction/script-argument.js'
export {
  type GenesisTransaction,
  readTransaction,
  type Transaction,
  type UserTransaction,
} from './wire/transaction/transaction.js'
export type {
  DkgResult,
  Jwk,
  ObservedJwkUpdate,
  ValidatorTransaction,
} from './wire/transaction/validator-transaction.js'
export { readWriteSetPayload, type WriteSetPayload } from './wire/transaction/write-set-payload.js'
export { readVariant, UnknownVariantError } from './wire/variant.js'
export { visitWriteSet, type WriteOp } from './wire/write-set.js'
