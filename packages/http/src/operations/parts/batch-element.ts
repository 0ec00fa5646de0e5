import { type JsonObject, jsonValueToText } from '@ledger-state/bcs'
import { bytesToHexDigits } from '@ledger-state/core'
import type { LedgerState, Moment } from '@ledger-state/ledger'
import type { AnswerBytes } from '../../admission/answer-bytes.js'
import { operationDisabled } from '../../errors.js'
import { chunksOf } from '../../protocol/chunked-bytes.js'
import { CONTENT_TYPE, MEDIA_TYPE, type OutputFormat } from '../../protocol/media-types.js'
import { expectKnownParameters } from './known-parameters.js'
import type { Answer, OperationRequest, Route, StreamHost } from './operation.js'
import { stringMember } from './request-parts.js'

/** Finds the operation of a method and a target, with the parameters of its path. */
export type FindOperation = (
  method: 'GET' | 'POST',
  target: string,
) => { readonly route: Route; readonly params: Readonly<Record<string, string>> }

const NO_BODY = Buffer.alloc(0)

/** An element of a batch as a separate request. It reads the state of the batch, unless it names a state. */
class ElementRequest implements OperationRequest {
  readonly accept = undefined
  readonly contentType = MEDIA_TYPE.json
  readonly ifNoneMatch = undefined
  readonly askedVersion = undefined
  readonly lastEventId = undefined
  readonly params: Readonly<Record<string, string>>
  readonly query: string
  readonly body: Buffer
  readonly #batch: OperationRequest
  readonly #state: LedgerState
  readonly #body: AnswerBytes

  constructor(
    batch: OperationRequest,
    state: LedgerState,
    params: Readonly<Record<string, string>>,
    query: string,
    body: Buffer,
    answerBody: AnswerBytes,
  ) {
    this.#batch = batch
    this.#state = state
    this.#body = answerBody
    this.params = params
    this.query = query
    this.body = body
  }

  get ledger(): OperationRequest['ledger'] {
    return this.#batch.ledger
  }

  get views(): OperationRequest['views'] {
    return this.#batch.views
  }

  get proofs(): OperationRequest['proofs'] {
    return this.#batch.proofs
  }

  expectStreams(): () => StreamHost {
    throw operationDisabled.streamInBatch()
  }

  pin(asked: Moment | undefined, end?: bigint): LedgerState {
    return asked === undefined && end === undefined ? this.#state : this.#batch.pin(asked, end)
  }

  expectOutput(format: OutputFormat, what: string): void {
    this.#batch.expectOutput(format, what)
  }

  hold(bytes: number): void {
    this.#batch.hold(bytes)
  }

  /** All elements use the same memory, because they are read one after the other and their answers are copied. */
  openBody(): AnswerBytes {
    this.#body.clear()
    return this.#body
  }

  nextTurn(): Promise<number> {
    return this.#batch.nextTurn()
  }
}

/** Result of an element: its status, and its members as JSON, in pieces of UTF-8 or text. */
export interface ElementResult {
  readonly status: number
  readonly members: readonly (string | Uint8Array)[]
}

/**
 * Reads an element that names an operation by its path.
 * @param answerBody memory for answers of many pieces: copy the result before the next element is read
 */
export async function readOperationElement(
  batch: OperationRequest,
  state: LedgerState,
  element: JsonObject,
  find: FindOperation,
  answerBody: AnswerBytes,
): Promise<ElementResult> {
  const target = stringMember(element, 'path', 'OperationElement')
  const body = element.get('body')
  const { route, params } = find(body === undefined ? 'GET' : 'POST', target)
  const queryAt = target.indexOf('?')
  const query = queryAt < 0 ? '' : target.slice(queryAt + 1)
  expectKnownParameters(route, query)
  const bytes = body === undefined ? NO_BODY : Buffer.from(jsonValueToText(body))
  const request = new ElementRequest(batch, state, params, query, bytes, answerBody)
  return answerToResult(await route.handle(request))
}

/** A result has the value in JSON, or as hex if it has no JSON form. GraphQL answers a failed document with its error. */
function answerToResult({ status = 200, contentType, body, cursor, isComplete }: Answer): ElementResult {
  const pieces = chunksOf(body)
  if (status >= 400) return { status, members: ['"error":', ...pieces] }
  const next = cursor === undefined ? '' : `,"cursor":${JSON.stringify(cursor)}`
  const ends = `${next}${isComplete === undefined ? '' : `,"complete":${isComplete}`}`
  if (contentType === CONTENT_TYPE.json) return { status, members: ['"value":', ...pieces, ends] }
  return { status, members: ['"bytes":"0x', ...pieces.map(bytesToHexDigits), `"${ends}`] }
}
