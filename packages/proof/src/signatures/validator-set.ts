import { untrusted } from '../errors.js'
import type { EpochState, SignedLedgerInfo } from '../ledger/ledger-info.js'
import type { SignedStatement } from './bls.js'

/** Voting power behind a signature. */
export interface SignedPower {
  readonly signed: bigint
  readonly total: bigint
}

/** The claim of a ledger info. Do not trust any of it before `Bls.verifyAll` has verified it. */
export interface Claim extends SignedPower {
  readonly statement: SignedStatement
}

/**
 * Reads the claim of the signature of a ledger info, given the validators of its epoch. It checks everything that needs
 * no curve arithmetic. See docs/ledger-formats.md, "Signatures".
 * @param seed hash of the salt and `LedgerInfo`, which precedes the message
 * @throws `untrusted`
 */
export function readClaim(info: SignedLedgerInfo, epoch: EpochState, seed: Uint8Array): Claim {
  const { validators } = epoch
  if (info.epoch !== epoch.epoch) throw untrusted.otherEpochsValidators(info.epoch, epoch.epoch)
  if (validators.length === 0) throw untrusted.emptyValidatorSet(epoch.epoch)
  if (info.signers.length !== Math.ceil(validators.length / 8)) {
    throw untrusted.wrongMaskLength(info.epoch, info.signers.length, validators.length)
  }
  let [total, signed] = [0n, 0n]
  const publicKeys: Uint8Array[] = []
  for (const [index, { publicKey, votingPower }] of validators.entries()) {
    total += votingPower
    if (!isSigner(info.signers, index)) continue
    signed += votingPower
    publicKeys.push(publicKey)
  }
  for (let index = validators.length; index < info.signers.length * 8; index++) {
    if (isSigner(info.signers, index)) throw untrusted.unknownSigners(info.epoch, index, validators.length)
  }
  const needed = (2n * total) / 3n + 1n
  if (signed < needed) throw untrusted.notEnoughPower(info.epoch, signed, total, needed)
  if (!info.signature) throw untrusted.missingSignature(info.epoch)
  const message = new Uint8Array(seed.length + info.message.length)
  message.set(seed)
  message.set(info.message, seed.length)
  return { signed, total, statement: { message, publicKeys, signature: info.signature } }
}

/** Whether the validator at an index signed. The highest bit of a byte comes first. */
function isSigner(mask: Uint8Array, index: number): boolean {
  return (mask[index >> 3]! & (0x80 >> (index & 7))) !== 0
}
