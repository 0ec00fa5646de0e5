import { ByteWriter, isLedgerStateError } from '@ledger-state/core'
import {
  type LedgerState,
  ReadTrace,
  type StartedView,
  type StartViewOptions,
  type StoredValue,
  startView,
  uncachedState,
  type ViewRequest,
} from '@ledger-state/ledger'
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

/** A run of a view whose answer has the values that it read, and their proof. */
export interface ProvenView {
  /** Starts the view over a state with empty caches, so that it reads what a client reads that runs it. */
  start(call: ViewRequest, options: StartViewOptions): StartedView
  /** The answer, once the view has ended. */
  answer(results: readonly StoredValue[], format: OutputFormat, turn: TurnBudget): Promise<Answer>
}

/** Runs a view for an answer with a proof. Nothing is read before `start`. */
export function proveView(
  request: OperationRequest,
  state: LedgerState,
  source: ProofSource,
  from: bigint | undefined,
): ProvenView {
  const trace = new ReadTrace()
  const viewed = uncachedState(state.view, state.source.loading)
  return {
    start: (call, options) => startView(viewed, call, { ...options, trace }),
    async answer(results, format, turn) {
      const value = format === 'json' ? resultsToJson(results) : resultsToBcs(results)
      // The types of the results are part of the proof in both formats: the client writes the JSON in any case.
      if (format === 'bcs') resolveTypes(results)
      const proof = await proveValues(request, state, source, trace, format, turn)
      const whole = await withEndings(request, source, from, proof)
      const body = format === 'json' ? toJson(value, whole) : toBcs(value, whole)
      return { ledger: state.ledger, contentType: CONTENT_TYPE[format], body }
    },
  }
}

/** Proves the values of the keys of a trace. A proof that does not hold, by a fault of the store, is never sent. */
async function proveValues(
  request: OperationRequest,
  state: LedgerState,
  source: ProofSource,
  { keys }: ReadTrace,
  format: OutputFormat,
  turn: TurnBudget,
): Promise<ValuesProof> {
  const proven: (ProvenValue & { readonly path: StatePath })[] = []
  let bytes = 0
  for (const stateKey of keys.values()) {
    if (turn.isSpent) await turn.nextTurn()
    const stateValue = storedValueOf(state, stateKey)
    bytes += stateKey.length + (stateValue?.length ?? 0)
    if (bytes > MOST_VALUE_BYTES) throw invalidParameter.viewProofTooLarge(MOST_VALUE_BYTES)
    request.hold(BYTES_PER_BYTE[format] * (stateKey.length + (stateValue?.length ?? 0)))
    proven.push({ stateKey, stateValue, path: await source.pathOf(stateKey) })
  }
  if (turn.isSpent) await turn.nextTurn()
  const hasher = new LedgerHasher(source.proofs.hashSalt)
  const proof = joinValues(hasher, source.checkpoint, proven)
  checkValuesProof(hasher, proof)
  return proof
}

/** JSON of the results of a view. */
export function resultsToJson(results: readonly StoredValue[]): Uint8Array {
  return Buffer.from(`[${results.map((value) => value.toJson()).join(',')}]`)
}

/** BCS of the results of a view: their number, and each of them. */
export function resultsToBcs(results: readonly StoredValue[]): Uint8Array {
  const writer = new ByteWriter().uleb128(results.length)
  for (const { bytes } of results) writer.bytes(bytes)
  return writer.toBytes()
}

function resolveTypes(results: readonly StoredValue[]): void {
  for (const value of results) {
    try {
      value.toJson()
    } catch (error) {
      if (!isLedgerStateError(error, 'view_result_unreadable')) throw error
    }
  }
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
