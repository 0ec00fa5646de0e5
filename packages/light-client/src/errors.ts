import type { BcsErrorCode } from '@ledger-state/bcs'
import { bytesToHexDigits, clip, declareErrors, LedgerStateError, quote } from '@ledger-state/core'
import type { ModuleErrorCode } from '@ledger-state/move-module'
import type { ProofErrorCode } from '@ledger-state/proof'
import type { TypeTagErrorCode } from '@ledger-state/type-tag'

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** `key` of the module that is needed to decode the value, in database form, in hex. */
    module_not_proven: { readonly key: string }
    /** State `key` of a value on which the answer depends, in database form, in hex. */
    value_not_proven: { readonly key: string }
    /** `version` of the answer. */
    wrong_version: { readonly version: bigint }
    /** `option` that has a wrong value. */
    invalid_argument: { readonly version?: bigint; readonly option?: string }
  }
}

/**
 * All codes of errors of this package. Proofs that do not hold are `verification_failed`, signatures that do not hold
 * `untrusted`.
 */
export type LightClientErrorCode =
  | ProofErrorCode
  | BcsErrorCode
  | ModuleErrorCode
  | TypeTagErrorCode
  | 'invalid_address'
  | 'invalid_answer'
  | 'answer_differs'
  | 'wrong_state_key'
  | 'wrong_version'
  | 'wrong_transaction'
  | 'wrong_event'
  | 'module_not_proven'
  | 'value_not_proven'
  | 'view_failed'
  | 'view_argument_invalid'

type LightClientError = LedgerStateError<LightClientErrorCode>

export const invalidAnswer = declareErrors('invalid_answer', {
  noAnswer: (why: string, cause?: unknown) => [`the node gave no answer: ${why}`, {}, cause],
  notAProof: (why: string, cause?: unknown) => [`the answer is not a value with its proof: ${why}`, {}, cause],
  notEndings: (why: string, cause?: unknown) => [`the answer is not a list of epoch changes: ${why}`, {}, cause],
  notVersions: (why: string, cause?: unknown) => [`the answer does not name versions with proofs: ${why}`, {}, cause],
  notAPage: (why: string, cause?: unknown) => [`the answer is not a page with an event: ${why}`, {}, cause],
  tooLong: (most: number) => `the answer has more than ${most} bytes`,
})

export const invalidOption = declareErrors('invalid_argument', {
  unknownKind: (question: unknown) => [
    `the question has the unknown kind ${quote(String((question as { readonly kind?: unknown } | null | undefined)?.kind))}`,
    { option: 'question' },
  ],
  notAUrl: (text: string) => [`${quote(String(text))} is not an HTTP URL`, { option: 'url' }],
  notAnApi: () => ['the URL of a node has a user name, a query or a fragment', { option: 'url' }],
  noTransactionNamed: () => ['give the version or the hash of a transaction', { option: 'version' }],
  noEventNamed: (option: string) => [`no ${option} names an event`, { option }],
  typesInFunction: (text: string) => [
    `${quote(text)} has type arguments: give them as typeArguments`,
    { option: 'function' },
  ],
  withoutJson: (option: string, why: string) => [`the ${option} cannot be written as JSON: ${why}`, { option }],
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

export function valueNotProven(key: string): LightClientError {
  const message = `the answer depends on the state key ${clip(key)}, but does not prove its value`
  return new LedgerStateError('value_not_proven', message, { key })
}
