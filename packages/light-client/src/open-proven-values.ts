import {
  checkValuesProof,
  DEFAULT_HASH_SALT,
  jsonToValuesProof,
  LedgerHasher,
  readValuesProof,
} from '@ledger-state/proof'
import type { AnswerOptions, VerifiedState } from './answer-options.js'
import { checkSignatures } from './check-signatures.js'
import { wrongVersion } from './errors.js'
import { ProvenState } from './proven-state.js'
import { type AnsweredValue, readProvenParts } from './read-answer.js'

/** An answer with a checked proof. Its statements about the values are not compared with them yet. */
export interface ProvenValues {
  readonly answered: AnsweredValue
  /** The proven values. It refuses all other keys. */
  readonly state: ProvenState
  /** Number of proven values, and of keys proven to have none. */
  readonly provenCount: number
  readonly verified: VerifiedState
}

/**
 * Reads an answer with the values that it follows from and one proof of them all, and checks the proof: the ledger was
 * signed by validators who follow from the reader's trust, and its state has these values.
 * @throws `untrusted`, `verification_failed`, `wrong_version`, `invalid_answer`
 */
export async function openProvenValues(answer: unknown, options: AnswerOptions): Promise<ProvenValues> {
  const { version: expected, hashSalt = DEFAULT_HASH_SALT } = options
  const { answered, proof } = readProvenParts(answer, { readBcs: readValuesProof, fromJson: jsonToValuesProof })
  const hasher = new LedgerHasher(hashSalt)
  const { ledgerInfo } = checkValuesProof(hasher, proof)
  const { version } = proof.checkpoint
  if (expected !== undefined && version !== expected) throw wrongVersion.ofProof(version, expected)
  const signers = await checkSignatures(hasher, options, proof.epochEndings, ledgerInfo)
  return {
    answered,
    state: new ProvenState(version, proof.values),
    provenCount: proof.values.length,
    verified: { version, timestampUsec: ledgerInfo.timestampUsec, signers },
  }
}
