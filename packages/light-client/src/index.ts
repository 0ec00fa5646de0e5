export type { AnswerOptions, VerifiedState } from './answer-options.js'
export type { ReachedEpoch, ReadEndings, Signers, Trust } from './check-signatures.js'
export type { LightClientErrorCode } from './errors.js'
export { type ModuleRequest, moduleRequest } from './module-request.js'
export type { NodeOptions } from './node-connection.js'
export type { ReadProof } from './proven-modules.js'
export type { ReadQuestion } from './question.js'
export { readEndingsFrom } from './read-endings.js'
export type { StateOptions } from './read-from-node.js'
export { readProofFrom } from './read-proof.js'
export {
  type BalanceQuestion,
  type VerifiedBalance,
  type VerifyBalanceAnswerOptions,
  type VerifyBalanceOptions,
  verifyBalance,
  verifyBalanceAnswer,
} from './verify-balance.js'
export { type VerifiedRead, type VerifyReadOptions, verifyRead } from './verify-read.js'
export {
  type VerifyResourceOptions,
  type VerifyTableItemOptions,
  verifyResource,
  verifyTableItem,
} from './verify-state.js'
export {
  type VerifyEventOptions,
  type VerifyTransactionOptions,
  verifyEvent,
  verifyTransaction,
} from './verify-transaction.js'
export {
  type EventQuestion,
  type VerifiedEvent,
  type VerifiedPlace,
  type VerifiedTransaction,
  type VerifyEventAnswerOptions,
  type VerifyTransactionAnswerOptions,
  verifyEventAnswer,
  verifyTransactionAnswer,
} from './verify-transaction-answer.js'
export { type VerifyViewOptions, verifyView } from './verify-view.js'
export {
  type VerifiedResult,
  type VerifiedView,
  type VerifyViewAnswerOptions,
  type ViewQuestion,
  verifyViewAnswer,
} from './verify-view-answer.js'
