export type { ReachedEpoch, ReadEndings, Signers, Trust } from './check-signatures.js'
export type { LightClientErrorCode } from './errors.js'
export { type ModuleRequest, moduleRequest } from './module-request.js'
export type { ReadProof } from './proven-modules.js'
export type { ReadQuestion } from './question.js'
export { readEndingsFrom } from './read-endings.js'
export { readProofFrom } from './read-proof.js'
export { type VerifiedRead, type VerifyReadOptions, verifyRead } from './verify-read.js'
export {
  type EventQuestion,
  type VerifiedEvent,
  type VerifiedPlace,
  type VerifiedTransaction,
  type VerifyEventOptions,
  type VerifyTransactionOptions,
  verifyEvent,
  verifyTransaction,
} from './verify-transaction.js'
