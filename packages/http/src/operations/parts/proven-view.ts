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
import type { OutputFormat } from '../../protocol/media-types.js'
import type { Answer, OperationRequest } from './operation.js'
import { answerWithValues } from './proven-values.js'
import type { ProofSource } from './state-read.js'
import type { TurnBudget } from './turn-budget.js'

/** A run of a view whose answer has the values that it read, and their proof. */
export interface ProvenView {
  /** Starts the view over a state with empty caches, so that it reads the same keys as a client that runs it. */
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
      return await answerWithValues(request, { state, source, from, format, turn }, trace.keys.values(), value)
    },
  }
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
