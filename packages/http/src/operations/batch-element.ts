import { type JsonObject, jsonValueToText } from '@ledger-state/bcs'
import { bytesToHex } from '@ledger-state/core'
import type { LedgerState, Moment } from '@ledger-state/ledger'
import { CONTENT_TYPE, MEDIA_TYPE, type OutputFormat } from '../protocol/media-types.js'
import type { Answer, OperationRequest, Route } from './operation.js'
import { stringMember } from './request-parts.js'

/** Finds the operation of a method and a target, with the parameters of its path. */
export type FindOperation = (
  method: 'GET' | 'POST',
  target: string,
) => { readonly route: Route; readonly params: Readonly<Record<string, string>> }

const NO_BODY = Buffer.alloc(0)

/** An element of a batch as a request of its own. It reads the state of the batch, unless it names one. */
class ElementRequest implements OperationRequest {
  readonly accept = undefined
  readonly contentType = MEDIA_TYPE.json
  readonly ifNoneMatch = undefined
  readonly params: Readonly<Record<string, string>>
  readonly query: string
  readonly body: Buffer
  /** Bytes that were counted for the answer. */
  heldBytes = 0
  readonly #batch: OperationRequest
  readonly #state: LedgerState

  constructor(
    batch: OperationRequest,
    state: LedgerState,
    params: Readonly<Record<string, string>>,
    query: string,
    body: Buffer,
  ) {
    this.#batch = batch
    this.#state = state
    this.params = params
    this.query = query
    this.body = body
  }

  get ledger(): OperationRequest['ledger'] {
    return this.#batch.ledger
  }

  pin(asked: Moment | undefined): LedgerState {
    return asked === undefined ? this.#state : this.#batch.pin(asked)
  }

  expectOutput(format: OutputFormat, what: string): void {
    this.#batch.expectOutput(format, what)
  }

  hold(bytes: number): void {
    this.heldBytes += bytes
    this.#batch.hold(bytes)
  }

  nextTurn(): Promise<void> {
    return this.#batch.nextTurn()
  }
}

/** Reads an element that names an operation by its path, and counts its answer. Gives the members of its result. */
export async function readOperationElement(
  batch: OperationRequest,
  state: LedgerState,
  element: JsonObject,
  find: FindOperation,
): Promise<string> {
  const target = stringMember(element, 'path', 'OperationElement')
  const body = element.get('body')
  const { route, params } = find(body === undefined ? 'GET' : 'POST', target)
  const queryAt = target.indexOf('?')
  const query = queryAt < 0 ? '' : target.slice(queryAt + 1)
  const bytes = body === undefined ? NO_BODY : Buffer.from(jsonValueToText(body))
  const request = new ElementRequest(batch, state, params, query, bytes)
  const result = answerToMembers(await route.handle(request))
  batch.hold(Math.max(0, result.length - request.heldBytes))
  return result
}

/** The value in JSON; what has no JSON form as hex. */
function answerToMembers({ contentType, body, cursor, isComplete }: Answer): string {
  const isJson = contentType === CONTENT_TYPE.json
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const value = isJson ? `"value":${Buffer.from(bytes).toString()}` : `"bytes":"${bytesToHex(bytes)}"`
  const next = cursor === undefined ? '' : `,"cursor":${JSON.stringify(cursor)}`
  return `${value}${next}${isComplete === undefined ? '' : `,"complete":${isComplete}`}`
}
