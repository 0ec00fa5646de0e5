import type { Signers, Trust } from './check-signatures.js'

/** The version of the answer, and the trust of the reader. */
export interface AnswerOptions extends Trust {
  /** Version that was asked for. If undefined, any version is accepted, and the result says which. */
  readonly version?: bigint | undefined
  /** Word before the name of each hash, `APTOS::` by default. */
  readonly hashSalt?: string | undefined
}

/** The state that an answer is from. */
export interface VerifiedState {
  /** The version of the state. */
  readonly version: bigint
  /** Time of the signed ledger info, in microseconds since 1970. The reader judges whether the answer is too old. */
  readonly timestampUsec: bigint
  /** Who signed the ledger info. */
  readonly signers: Signers
}
