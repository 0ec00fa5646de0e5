import { type JsonValue, jsonValueToText, parseJson } from '@ledger-state/bcs'
import { ByteWriter, bytesToHex, isLedgerStateError } from '@ledger-state/core'
import { isSameBytes } from '@ledger-state/core/bytes'
import {
  type StartedView,
  type StoredValue,
  startView,
  uncachedState,
  type ViewRequest,
} from '@ledger-state/ledger/views'
import { parseStructTag, parseTypeTag } from '@ledger-state/type-tag'
import type { AnswerOptions, VerifiedState } from './answer-options.js'
import { answerDiffers, invalidOption } from './errors.js'
import { jsonOfRequest } from './json-of-request.js'
import { openProvenValues } from './open-proven-values.js'
import type { ProvenState } from './proven-state.js'
import type { AnsweredValue } from './read-answer.js'

/** A call of a view function. */
export interface ViewQuestion {
  /** The function, such as `0x1::coin::balance`. */
  readonly function: string
  readonly typeArguments?: readonly string[] | undefined
  /** Arguments as JSON, as in the API: an integer above 32 bits is a decimal text. */
  readonly arguments?: readonly unknown[] | undefined
}

/** The call, and the trust of the reader. */
export interface VerifyViewAnswerOptions extends AnswerOptions {
  readonly question: ViewQuestion
}

/** A result of a view. */
export interface VerifiedResult {
  readonly bytes: Uint8Array
  /** The result as compact JSON; undefined if it has none. */
  readonly json: string | undefined
}

/** The results of a view that ran here, over proven values. */
export interface VerifiedView extends VerifiedState {
  readonly results: readonly VerifiedResult[]
  /** Number of proven values, and of keys proven to have none. */
  readonly provenCount: number
}

/** Milliseconds after which a run lets other work of its thread have a turn. */
const TURN_MS = 10

/**
 * Verifies the answer of a view with `proof=true`. It checks that the ledger was signed by validators who follow from the
 * reader's trust, and that its state has the values of the proof. Then it runs the view on its own VM, with these values
 * only, and compares the results with the answer.
 * @param answer the body of the answer: a JSON text, the result of `JSON.parse`, or bytes of BCS
 * @throws `untrusted`, `verification_failed`, `value_not_proven`, `answer_differs`, `wrong_version`, `invalid_answer`;
 *   `view_failed` if the view fails over proven values; the errors of the question
 */
export async function verifyViewAnswer(answer: unknown, options: VerifyViewAnswerOptions): Promise<VerifiedView> {
  const call = questionToCall(options.question)
  const { answered, state, provenCount, verified } = await openProvenValues(answer, options)
  const results = await runView(state, call)
  expectSameResults(answered, results)
  return { results, provenCount, ...verified }
}

/** @throws `invalid_address`, `invalid_type_tag`, `invalid_argument` */
export function questionToCall({
  function: text,
  typeArguments = [],
  arguments: values = [],
}: ViewQuestion): ViewRequest {
  const { address, module, name, typeArguments: ofName } = parseStructTag(text)
  if (ofName.length > 0) throw invalidOption.typesInFunction(text)
  const json = parseJson(jsonOfRequest('arguments', values)) as readonly JsonValue[]
  const types = typeArguments.map((type) => parseTypeTag(type))
  return { address, module, function: name, typeArguments: types, arguments: { json } }
}

async function runView(state: ProvenState, call: ViewRequest): Promise<readonly VerifiedResult[]> {
  try {
    const results = await finish(startView(uncachedState(state), call))
    return results.map((result) => ({ bytes: result.bytes, json: jsonOf(result) }))
  } finally {
    state.expectAllProven()
  }
}

async function finish(view: StartedView): Promise<readonly StoredValue[]> {
  let turnEnds = performance.now() + TURN_MS
  for (;;) {
    const results = view.advance()
    if (results) return results
    if (performance.now() < turnEnds) continue
    await new Promise((resolve) => setTimeout(resolve, 0))
    turnEnds = performance.now() + TURN_MS
  }
}

function jsonOf(result: StoredValue): string | undefined {
  try {
    return result.toJson()
  } catch (error) {
    if (isLedgerStateError(error, 'view_result_unreadable')) return undefined
    throw error
  }
}

/** Checks that the results next to a proof, which a careless reader would use, match the run. */
function expectSameResults(answered: AnsweredValue, results: readonly VerifiedResult[]): void {
  if (answered.kind === 'bytes') {
    const writer = new ByteWriter().uleb128(results.length)
    for (const { bytes } of results) writer.bytes(bytes)
    const expected = writer.toBytes()
    if (!isSameBytes(answered.value, expected)) throw answerDiffers(bytesToHex(expected), bytesToHex(answered.value!))
    return
  }
  const said = jsonValueToText(answered.value)
  const expected = `[${results.map(({ json }) => json).join(',')}]`
  const isWritable = results.every(({ json }) => json !== undefined)
  if (!isWritable || said !== jsonValueToText(parseJson(expected))) throw answerDiffers(expected, said)
}
