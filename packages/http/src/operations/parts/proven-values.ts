import { ByteWriter } from '@ledger-state/core'
import type { LedgerState } from '@ledger-state/ledger'
import {
  checkValuesProof,
  joinValues,
  LedgerHasher,
  type ProvenValue,
  type StatePath,
  type ValuesProof,
  valuesProofToJson,
  writeValuesProof,
} from '@ledger-state/proof'
import { invalidParameter } from '../../errors.js'
import { CONTENT_TYPE, type OutputFormat } from '../../protocol/media-types.js'
import type { Answer, OperationRequest } from './operation.js'
import { type ProofSource, storedValueOf, withEndings } from './state-read.js'
import type { TurnBudget } from './turn-budget.js'

/** Most bytes of all values of a proof: the light client accepts answers of twice that. */
const MOST_VALUE_BYTES = 8 << 20
/** Bytes of the answer for each byte of a value: the value, and its form in the answer. */
const BYTES_PER_BYTE = { json: 4, bcs: 2 } as const

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
  const { state, source, from, format } = answered
  const proof = await withEndings(request, source, from, await proveValues(request, answered, keys))
  const body = format === 'json' ? toJson(value, proof) : toBcs(value, proof)
  return { ledger: state.ledger, contentType: CONTENT_TYPE[format], body }
}

/** Proves the values of keys. A proof that does not hold, by a fault of the store, is never sent. */
async function proveValues(
  request: OperationRequest,
  { state, source, format, turn }: AnsweredState,
  keys: Iterable<Uint8Array>,
): Promise<ValuesProof> {
  const proven: (ProvenValue & { readonly path: StatePath })[] = []
  let bytes = 0
  for (const stateKey of keys) {
    if (turn.isSpent) await turn.nextTurn()
    const stateValue = storedValueOf(state, stateKey)
    bytes += stateKey.length + (stateValue?.length ?? 0)
    if (bytes > MOST_VALUE_BYTES) throw invalidParameter.proofTooLarge(MOST_VALUE_BYTES)
    request.hold(BYTES_PER_BYTE[format] * (stateKey.length + (stateValue?.length ?? 0)))
    proven.push({ stateKey, stateValue, path: await source.pathOf(stateKey) })
  }
  if (turn.isSpent) await turn.nextTurn()
  const hasher = new LedgerHasher(source.proofs.hashSalt)
  const proof = joinValues(hasher, source.checkpoint, proven)
  checkValuesProof(hasher, proof)
  return proof
}

function toJson(value: Uint8Array, proof: ValuesProof): Uint8Array {
  const rest = `,"proof":${JSON.stringify(valuesProofToJson(proof))}}`
  return Buffer.concat([Buffer.from('{"value":'), value, Buffer.from(rest)])
}

/** BCS of the bytes of the answer without a proof, and of the proof. */
function toBcs(value: Uint8Array, proof: ValuesProof): Uint8Array {
  const writer = new ByteWriter().byteString(value)
  writeValuesProof(writer, proof)
  return writer.toBytes()
}
