import type { JsonObject } from '@ledger-state/bcs'
import { isLedgerStateError, type Steps } from '@ledger-state/core'
import type { LedgerState } from '@ledger-state/ledger'
import type { AnswerBytes } from '../../admission/answer-bytes.js'
import { invalidRequest } from '../../errors.js'
import { errorToReply } from '../../protocol/error-reply.js'
import { CONTENT_TYPE } from '../../protocol/media-types.js'
import type { ElementResult } from './batch-element.js'
import { type Answer, BODY_ERRORS, type Operation, type OperationRequest, STATE_PARAMETERS } from './operation.js'
import { expectJsonContentType, parseAskedState, parseBatchElements } from './request-parts.js'
import { runInTurns, TurnBudget } from './turn-budget.js'

export const MAX_BATCH_READS = 1_000
/** Most bytes of all results of a batch, which it holds in memory. */
export const MAX_BATCH_ANSWER_BYTES = 32 * 1024 * 1024

/** Members of the result of an element, which is a 200 if it is read at once. */
export type ElementReading = string | Promise<ElementResult>

/** Reads one element of a batch. */
export type ReadElement = (
  request: OperationRequest,
  state: LedgerState,
  element: JsonObject,
  answerBody: AnswerBytes,
) => ElementReading

/** Reads an element whose result is a value as JSON, in turns if the value is long. */
export function valueInTurns(request: OperationRequest, json: Steps<string>): ElementReading {
  const made = runInTurns(request, json)
  if (typeof made === 'string') return `"value":${made}`
  return made.then((text) => ({ status: 200, members: ['"value":', text] }))
}

function batchResults(result: object) {
  return {
    type: 'array',
    maxItems: MAX_BATCH_READS,
    items: {
      type: 'object',
      required: ['status'],
      properties: {
        status: { type: 'integer', format: 'int32' },
        ...result,
        error: { $ref: '#/components/schemas/Error' },
      },
    },
  }
}

function batchOf(element: string) {
  const requests = { type: 'array', maxItems: MAX_BATCH_READS, items: { $ref: `#/components/schemas/${element}` } }
  return { type: 'object', required: ['requests'], properties: { requests } }
}

/** Parts of a batch that differ from one to the other. */
export interface BatchParts extends Pick<Operation, 'id' | 'path' | 'tag' | 'summary'> {
  /** Text of the description after the limits. */
  readonly about?: string
  /** Name of the schema of an element. */
  readonly element: string
  /** Schemas of the members that a result may have. */
  readonly result: object
  readonly read: ReadElement
}

/** Creates an operation that reads many elements at one state. */
export function createBatchOperation(parts: BatchParts, archivalEndpoint: string | undefined): Operation {
  const { about, element, result, read, ...named } = parts
  const limits = `Up to ${MAX_BATCH_READS} reads of one ledger state in one request; results are in the order of the requests, each with its own status.`
  return {
    ...named,
    method: 'POST',
    negotiates: false,
    takesTurns: true,
    parameters: STATE_PARAMETERS,
    errors: BODY_ERRORS,
    description: about === undefined ? limits : `${limits} ${about}`,
    requestBody: batchOf(element),
    success: { json: batchResults(result) },
    handle: (request) => readBatch(request, named.summary, read, archivalEndpoint),
  }
}

async function readBatch(
  request: OperationRequest,
  what: string,
  read: ReadElement,
  archivalEndpoint: string | undefined,
): Promise<Answer> {
  const turn = new TurnBudget(request)
  expectJsonContentType(request.contentType)
  const elements = parseBatchElements(request.body, MAX_BATCH_READS)
  const asked = parseAskedState(request.query)
  request.expectOutput('json', what)
  const state = request.pin(asked)
  const results = request.openBody().text('[')
  const answerBody = request.openBody()
  for (let at = 0; at < elements.length; at++) {
    if (turn.isSpent) await turn.nextTurn()
    if (at > 0) results.text(',')
    const reading = readElement(request, state, elements.element(at), read, archivalEndpoint, answerBody)
    for (const piece of reading instanceof Promise ? await reading : reading) {
      if (typeof piece === 'string') results.text(piece)
      else results.write(piece)
    }
    if (results.length > MAX_BATCH_ANSWER_BYTES) throw invalidRequest.batchAnswerTooLarge(MAX_BATCH_ANSWER_BYTES)
  }
  return { ledger: state.ledger, contentType: CONTENT_TYPE.json, body: results.text(']') }
}

/** A result as JSON, in pieces of UTF-8 or text. */
type Pieces = ElementResult['members']

/** Reads an element. Returns a promise only if it is read in turns, as a promise costs more than a look-up. */
function readElement(
  request: OperationRequest,
  state: LedgerState,
  element: JsonObject,
  read: ReadElement,
  archivalEndpoint: string | undefined,
  answerBody: AnswerBytes,
): Pieces | Promise<Pieces> {
  const fail = (error: unknown): Pieces => [errorToResult(error, request, state, archivalEndpoint)]
  try {
    const reading = read(request, state, element, answerBody)
    if (!(reading instanceof Promise)) return [`{"status":200,${reading}}`]
    return reading
      .then(({ status, members }) => {
        if (status === 410) expectBatchKept(request, state)
        return [`{"status":${status},`, ...members, '}']
      })
      .catch(fail)
  } catch (error) {
    return fail(error)
  }
}

/** A prune that overtakes the state of the batch ends it. An element may also name a version that was pruned before. */
function expectBatchKept(request: OperationRequest, state: LedgerState): void {
  request.pin({ version: state.version })
}

function errorToResult(
  error: unknown,
  request: OperationRequest,
  state: LedgerState,
  archivalEndpoint: string | undefined,
): string {
  const { status, body, unexpected } = errorToReply(error, archivalEndpoint)
  // Faults of the service end the request, so that they are reported; so do overload and a client that left.
  if (unexpected || isLedgerStateError(error, 'overloaded', 'client_left')) throw error
  if (status === 410) expectBatchKept(request, state)
  return `{"status":${status},"error":${body}}`
}
