import { bytesToHexDigits, clip, LedgerStateError } from '@ledger-state/core'

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** `offset` of a transaction in its chunk; `epoch` whose end has another waypoint than is listed. */
    verification_failed: { readonly offset?: number; readonly epoch?: bigint }
    /** `epoch` that is not proven; `option` of the source that would make it so. */
    untrusted: { readonly epoch?: bigint; readonly option?: string }
  }
}

/** Codes of errors while a proof is checked. */
export type ProofErrorCode = 'invalid_argument' | 'invalid_proof' | 'verification_failed' | 'untrusted'

type ProofError = LedgerStateError<ProofErrorCode>

export function hashMismatch(what: string, claimed: Uint8Array, computed: Uint8Array): ProofError {
  const message = `${what} is ${bytesToHexDigits(claimed)}, but the data hashes to ${bytesToHexDigits(computed)}`
  return new LedgerStateError('verification_failed', message)
}

export function notAWaypoint(text: string): ProofError {
  const message = `${JSON.stringify(clip(text))} is not a waypoint: expected version:hash, with the hash as 64 lower-case hex digits`
  return new LedgerStateError('invalid_argument', message)
}

// Proofs of state values

/** Error of a member of a proof in JSON that cannot be read. */
export function badProofMember(name: string, expected: string): ProofError {
  return new LedgerStateError('invalid_proof', `${name} is not ${expected}`)
}

export function shortPath(version: bigint, end: bigint): ProofError {
  const message = `the proof's ledger info ends at version ${end}, before version ${version}`
  return new LedgerStateError('verification_failed', message)
}

export function wrongPathLength(version: bigint, found: number, expected: number): ProofError {
  const message = `the accumulator proof of version ${version} has ${found} siblings; expected ${expected}`
  return new LedgerStateError('verification_failed', message)
}

export function ledgerWithoutStateRoot(version: bigint): ProofError {
  const message = `version ${version} does not end a block, so the ledger has no state root there`
  return new LedgerStateError('verification_failed', message)
}

export function otherKeysPath(key: Uint8Array): ProofError {
  const message = `the path of the proof does not lead to the state key ${clip(bytesToHexDigits(key))}`
  return new LedgerStateError('verification_failed', message)
}

export function wrongPresence(key: Uint8Array, isPresent: boolean): ProofError {
  const says = isPresent ? 'the state has a value' : 'the state has no value'
  const message = `${says} for the state key ${clip(bytesToHexDigits(key))}, which the proof claims otherwise`
  return new LedgerStateError('verification_failed', message)
}

// Signatures

/** Error of a ledger info. The reader of a file adds the place. */
function untrusted(epoch: bigint, why: string): ProofError {
  return new LedgerStateError('untrusted', `epoch ${epoch} ${why}`, { epoch })
}

export function otherTrustedWaypoint(epoch: bigint, found: string, trusted: string): ProofError {
  return untrusted(epoch, `has the waypoint ${found}, but the trusted waypoint is ${trusted}`)
}

export function notAnEnding(epoch: bigint, version: bigint): ProofError {
  return untrusted(epoch, `ends at version ${version}, but does not name the validators of the next epoch`)
}

export function endingOutOfOrder(epoch: bigint, version: bigint, expected: bigint, after: bigint): ProofError {
  const message = `ends at version ${version}; expected the change of epoch ${expected} after version ${after}`
  return untrusted(epoch, message)
}

export function epochNotKnown(epoch: bigint, version: bigint): ProofError {
  const message = `has unknown validators, so version ${version} cannot be verified: neither a trusted waypoint nor an earlier epoch change names them`
  return untrusted(epoch, message)
}

export function otherEpochsValidators(epoch: bigint, known: bigint): ProofError {
  return untrusted(epoch, `cannot be verified: the known validators are those of epoch ${known}`)
}

export function emptyValidatorSet(epoch: bigint): ProofError {
  return untrusted(epoch, 'has no validators')
}

export function wrongMaskLength(epoch: bigint, found: number, validators: number): ProofError {
  return untrusted(epoch, `has a signer mask of ${found} bytes, which does not fit ${validators} validators`)
}

export function unknownSigners(epoch: bigint, index: number, validators: number): ProofError {
  return untrusted(epoch, `is signed by validator ${index} (counted from 0), but has only ${validators} validators`)
}

export function notEnoughPower(epoch: bigint, signed: bigint, total: bigint, needed: bigint): ProofError {
  return untrusted(epoch, `is signed by ${signed} of ${total} voting power; ${needed} is required`)
}

export function missingSignature(epoch: bigint): ProofError {
  return untrusted(epoch, 'names its signers but has no signature')
}

export function badSignature(epoch: bigint): ProofError {
  return untrusted(epoch, 'has an invalid signature: it does not match the keys of its validators')
}
