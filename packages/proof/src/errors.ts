import { bytesToHexDigits, clip, declareErrors, LedgerStateError } from '@ledger-state/core'

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** `offset` of a transaction in its chunk; `epoch` that ends with another waypoint than the listed one. */
    verification_failed: { readonly offset?: number; readonly epoch?: bigint }
    /** `epoch` that is not proven; `option` of the source that would make it so. */
    untrusted: { readonly epoch?: bigint; readonly option?: string }
  }
}

/** Codes of errors while a proof is checked. */
export type ProofErrorCode = 'invalid_argument' | 'invalid_proof' | 'verification_failed' | 'untrusted'

type ProofError = LedgerStateError<ProofErrorCode>

export const verificationFailed = declareErrors('verification_failed', {
  hashMismatch: (what: string, claimed: Uint8Array, computed: Uint8Array) =>
    `${what} is ${bytesToHexDigits(claimed)}, but the data hashes to ${bytesToHexDigits(computed)}`,
  shortPath: (version: bigint, end: bigint) =>
    `the proof's ledger info ends at version ${end}, before version ${version}`,
  wrongPathLength: (version: bigint, found: number, expected: number) =>
    `the accumulator proof of version ${version} has ${found} siblings; expected ${expected}`,
  eventOutsidePath: (index: number, siblings: number) =>
    `the event proof has ${siblings} siblings, too few for event ${index}`,
  ledgerWithoutStateRoot: (version: bigint) =>
    `version ${version} does not end a block, so the ledger has no state root there`,
  otherKeysPath: (key: Uint8Array) =>
    `the path of the proof does not lead to the state key ${clip(bytesToHexDigits(key))}`,
})

export function notAWaypoint(text: string): ProofError {
  const message = `${JSON.stringify(clip(text))} is not a waypoint: expected version:hash, with the hash as 64 lower-case hex digits`
  return new LedgerStateError('invalid_argument', message)
}

// Proofs of state values

/** Error of a member of a proof in JSON that cannot be read. */
export function badProofMember(name: string, expected: string): ProofError {
  return new LedgerStateError('invalid_proof', `${name} is not ${expected}`)
}

export function wrongPresence(key: Uint8Array, isPresent: boolean): ProofError {
  const says = isPresent ? 'the state has a value' : 'the state has no value'
  const message = `${says} for the state key ${clip(bytesToHexDigits(key))}, but the proof claims the opposite`
  return new LedgerStateError('verification_failed', message)
}

export function badMultiPath(why: string): ProofError {
  return new LedgerStateError('verification_failed', `the path of the proof ${why}`)
}

// Signatures

/** Text and fields of an error of an epoch. The reader of a file adds the place. */
function ofEpoch(epoch: bigint, why: string) {
  return [`epoch ${epoch} ${why}`, { epoch }] as const
}

export const untrusted = declareErrors('untrusted', {
  otherTrustedWaypoint: (epoch: bigint, found: string, trusted: string) =>
    ofEpoch(epoch, `has the waypoint ${found}, but the trusted waypoint is ${trusted}`),
  notAnEnding: (epoch: bigint, version: bigint) =>
    ofEpoch(epoch, `ends at version ${version}, but does not name the validators of the next epoch`),
  endingOutOfOrder: (epoch: bigint, version: bigint, expected: bigint, after: bigint) =>
    ofEpoch(epoch, `ends at version ${version}; expected the change of epoch ${expected} after version ${after}`),
  epochNotKnown: (epoch: bigint, version: bigint) =>
    ofEpoch(
      epoch,
      `has unknown validators, so version ${version} cannot be verified: neither a trusted waypoint nor an earlier epoch change names them`,
    ),
  otherEpochsValidators: (epoch: bigint, known: bigint) =>
    ofEpoch(epoch, `cannot be verified: the known validators belong to epoch ${known}`),
  emptyValidatorSet: (epoch: bigint) => ofEpoch(epoch, 'has no validators'),
  wrongMaskLength: (epoch: bigint, found: number, validators: number) =>
    ofEpoch(epoch, `has a signer mask of ${found} bytes, which does not fit ${validators} validators`),
  unknownSigners: (epoch: bigint, index: number, validators: number) =>
    ofEpoch(epoch, `is signed by validator ${index} (counted from 0), but has only ${validators} validators`),
  notEnoughPower: (epoch: bigint, signed: bigint, total: bigint, needed: bigint) =>
    ofEpoch(epoch, `is signed by ${signed} of ${total} voting power; ${needed} is required`),
  missingSignature: (epoch: bigint) => ofEpoch(epoch, 'names its signers but has no signature'),
  badSignature: (epoch: bigint) =>
    ofEpoch(epoch, 'has an invalid signature: it does not match the keys of its validators'),
})
