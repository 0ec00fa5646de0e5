import type { LedgerState } from '@ledger-state/ledger'
import {
  checkValuesProofInSteps,
  joinValues,
  LedgerHasher,
  type ProvenValue,
  type StatePath,
  type ValuesProof,
  valuesProofToJsonPieces,
  valuesProofToPieces,
} from '@ledger-state/proof'
import { invalidParameter } from '../../errors.js'
import { CONTENT_TYPE, type OutputFormat } from '../../protocol/media-types.js'
import { writeBcsWithProof, writeJsonWithProof } from './answer-with-proof.js'
import type { Answer, OperationRequest } from './operation.js'
import { type ProofSource, storedValueOf, withEndings } from './state-read.js'
import { finishInTurns, type TurnBudget } from './turn-budget.js'

/** Most bytes of all values of a proof: the light client accepts answers of twice that. */
const MOST_VALUE_BYTES = 8 << 20

/** An answer that was computed from several values of a state. */
export interface AnsweredState {
  readonly state: LedgerState
  readonly source: ProofSource
  /** Version of the epoch change at which the proof begins; undefined if no epoch changes are wanted. */
  readonly from: bigint | undefined
  readonly format: OutputFormat
  readonly turn: TurnBudget
}

/**
 * Answers with one proof of the values of several keys.
 * @param value body of the answer without the proof
 */
export async function answerWithValues(
  request: OperationRequest,
  answered: AnsweredState,
  keys: Iterable<Uint8Array>,
  value: Uint8Array,
): Promise<Answer> {
  const { state, source, from, format, turn } = answered
  const proof = await withEndings(request, source, from, await proveValues(request, answered, keys))
  const out = request.openBody()
  const written =
    format === 'json'
      ? writeJsonWithProof(out, value, valuesProofToJsonPieces(proof))
      : writeBcsWithProof(out, [value], valuesProofToPieces(proof))
  const body = await finishInTurns(turn, written)
  return { ledger: state.ledger, contentType: CONTENT_TYPE[format], body }
}

/** Proves the values of keys. A proof that does not hold, by a fault of the store, is never sent. */
async function proveValues(
  request: OperationRequest,
  { state, source, turn }: AnsweredState,
  keys: Iterable<Uint8Array>,
): Promise<ValuesProof> {
  const proven: (ProvenValue & { readonly path: StatePath })[] = []
  let bytes = 0
  for (const stateKey of keys) {
    if (turn.isSpent) await turn.nextTurn()
    const stateValue = storedValueOf(state, stateKey)
    const length = stateKey.length + (stateValue?.length ?? 0)
    bytes += length
    if (bytes > MOST_VALUE_BYTES) throw invalidParameter.proofTooLarge(MOST_VALUE_BYTES)
    request.hold(length)
    proven.push({ stateKey, stateValue, path: await source.pathOf(stateKey) })
  }
  if (turn.isSpent) await turn.nextTurn()
  const hasher = new LedgerHasher(source.proofs.hashSalt)
  const proof = joinValues(hasher, source.checkpoint, proven)
  await finishInTurns(turn, checkValuesProofInSteps(hasher, proof))
  return proof
}
