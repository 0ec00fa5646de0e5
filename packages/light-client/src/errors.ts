import { bytesToHexDigits, clip, declareErrors, LedgerStateError } from '@ledger-state/core'
import type { ProofErrorCode } from '@ledger-state/proof'

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** `key` of the module that is needed to decode the value, in database form, in hex. */
    module_not_proven: { readonly key: string }
    /** `version` of the answer. */
    wrong_version: { readonly version: bigint }
  }
}

/**
 * Codes for why a read is not believed. Proofs that do not hold are `verification_failed`, signatures that do not hold
 * `untrusted`.
 */
export type LightClientErrorCode =
  | ProofErrorCode
  | 'invalid_answer'
  | 'answer_differs'
  | 'wrong_state_key'
  | 'wrong_version'
  | 'wrong_transaction'
  | 'wrong_event'
  | 'module_not_proven'

type LightClientError = LedgerStateError<LightClientErrorCode>

export const invalidAnswer = declareErrors('invalid_answer', {
  noAnswer: (why: string, cause?: unknown) => [`the node gave no answer: ${why}`, {}, cause],
  notAProof: (why: string, cause?: unknown) => [`the answer is not a value with its proof: ${why}`, {}, cause],
  notEndings: (why: string, cause?: unknown) => [`the answer is not a list of epoch changes: ${why}`, {}, cause],
})

export function answerDiffers(proven: string, answered: string): LightClientError {
  const message = `the proof is for ${clip(proven)}, but the answer says ${clip(answered)}`
  return new LedgerStateError('answer_differs', message)
}

export function wrongStateKey(found: Uint8Array, expected: Uint8Array): LightClientError {
  const message = `expected a proof for state key ${clip(bytesToHexDigits(expected))}, got one for ${clip(bytesToHexDigits(found))}`
  return new LedgerStateError('wrong_state_key', message)
}

export const wrongVersion = declareErrors('wrong_version', {
  ofProof: (found: bigint, expected: bigint) => [
    `expected a proof at version ${expected}, got one at version ${found}`,
    { version: found },
  ],
  otherState: (version: bigint) => [`the proof of a module is not from the state at version ${version}`, { version }],
})

export function wrongTransaction(found: Uint8Array, expected: Uint8Array): LightClientError {
  const message = `expected a proof of the transaction ${bytesToHexDigits(expected)}, got one of ${bytesToHexDigits(found)}`
  return new LedgerStateError('wrong_transaction', message)
}

export function wrongEvent(version: bigint, index: number): LightClientError {
  const message = `the proof is for event ${index} of version ${version}, which is not the requested one`
  return new LedgerStateError('wrong_event', message)
}

export function moduleNotProven(key: Uint8Array): LightClientError {
  const message = 'the type of the value needs a module that has no proof: pass `readProof`'
  return new LedgerStateError('module_not_proven', message, { key: bytesToHexDigits(key) })
}
