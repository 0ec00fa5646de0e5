import type { JsonObject } from '@ledger-state/bcs'
import { bytesToHex, isLedgerStateError } from '@ledger-state/core'
import type { LedgerState } from '@ledger-state/ledger'
import { isStructTag } from '@ledger-state/type-tag'
import type { AnswerBytes } from '../admission/answer-bytes.js'
import { batchAnswerTooLarge, structTagExpected } from '../errors.js'
import { errorToReply } from '../protocol/error-reply.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import { type FindOperation, type ResultPieces, readOperationElement } from './batch-element.js'
import { type Answer, BODY_ERRORS, type Operation, type OperationRequest, STATE_PARAMETERS } from './operation.js'
import {
  expectJsonContentType,
  parseAddressMember,
  parseAskedState,
  parseAssetMember,
  parseBatchElements,
  parseHexMember,
  parseTypeMember,
  stringMember,
} from './request-parts.js'
import { resourceToJson } from './resource-formats.js'
import { TurnBudget } from './turn-budget.js'

export const MAX_BATCH_READS = 1_000
/** Most bytes of all results of a batch, which it holds in memory. */
export const MAX_BATCH_ANSWER_BYTES = 32 * 1024 * 1024

/** Reads one element of a batch. Returns the members of its result. */
type ReadElement = (
  request: OperationRequest,
  state: LedgerState,
  element: JsonObject,
  answerBody: AnswerBytes,
) => string | Promise<ResultPieces>

function batchResults(result: object) {
  return {
    type: 'array',
    maxItems: MAX_BATCH_READS,
    items: {
      type: 'object',
      required: ['status'],
      properties: { status: { type: 'integer' }, ...result, error: { $ref: '#/components/schemas/Error' } },
    },
  }
}

function batchOf(element: string) {
  const requests = { type: 'array', maxItems: MAX_BATCH_READS, items: { $ref: `#/components/schemas/${element}` } }
  return { type: 'object', required: ['requests'], properties: { requests } }
}

/** Creates the batch operations. `find` knows the operations that an element may name. */
export function createBatchOperations(archivalEndpoint: string | undefined, find: FindOperation): Operation[] {
  const handleWith = (what: string, read: ReadElement) => (request: OperationRequest) =>
    readBatch(request, what, read, archivalEndpoint)
  const shared = {
    method: 'POST',
    negotiates: false,
    takesTurns: true,
    parameters: STATE_PARAMETERS,
    errors: BODY_ERRORS,
  } as const
  const limits = `Up to ${MAX_BATCH_READS} reads of one ledger state in one request; results stand in the order of the requests, each with its own status.`
  return [
    {
      ...shared,
      id: 'get_table_items_batch',
      path: '/v1/tables/items:batch',
      tag: 'Tables',
      summary: 'Get many table items',
      description: `${limits} An element asks by typed key, or by serialized key in \`raw_key\`, which is answered with \`bytes\`.`,
      requestBody: batchOf('TableItemElement'),
      success: { json: batchResults({ value: {}, bytes: { type: 'string' } }) },
      handle: handleWith('Get many table items', readTableItemElement),
    },
    {
      ...shared,
      id: 'get_balances_batch',
      path: '/v1/balances:batch',
      tag: 'Accounts',
      summary: 'Get many balances',
      description: limits,
      requestBody: batchOf('BalanceElement'),
      success: { json: batchResults({ value: { type: 'integer' } }) },
      handle: handleWith('Get many balances', readBalanceElement),
    },
    {
      ...shared,
      id: 'get_resources_batch',
      path: '/v1/resources:batch',
      tag: 'Accounts',
      summary: 'Get many resources',
      description: limits,
      requestBody: batchOf('ResourceElement'),
      success: { json: batchResults({ value: { $ref: '#/components/schemas/Resource' } }) },
      handle: handleWith('Get many resources', readResourceElement),
    },
    {
      ...shared,
      id: 'batch',
      path: '/v1/batch',
      tag: 'Batches',
      summary: 'Do many operations',
      description: `${limits} An element is any operation but a batch: its path with its query, and its body where it is a POST. It reads the state of the batch, unless it names one. A result has what the operation answers in JSON as \`value\`, stored bytes as \`bytes\`, and the headers of pages and histories as \`cursor\` and \`complete\`.`,
      requestBody: batchOf('OperationElement'),
      success: {
        json: batchResults({
          value: {},
          bytes: { type: 'string' },
          cursor: { type: 'string' },
          complete: { type: 'boolean' },
        }),
      },
      handle: handleWith('Do many operations', (request, state, element, answerBody) =>
        readOperationElement(request, state, element, find, answerBody),
      ),
    },
  ]
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
    if (results.length > MAX_BATCH_ANSWER_BYTES) throw batchAnswerTooLarge(MAX_BATCH_ANSWER_BYTES)
  }
  return { ledger: state.ledger, contentType: CONTENT_TYPE.json, body: results.text(']').bytes }
}

/** Reads an element. Returns a promise only if it is read in turns, as a promise costs more than a look-up. */
function readElement(
  request: OperationRequest,
  state: LedgerState,
  element: JsonObject,
  read: ReadElement,
  archivalEndpoint: string | undefined,
  answerBody: AnswerBytes,
): ResultPieces | Promise<ResultPieces> {
  const fail = (error: unknown): ResultPieces => [errorToResult(error, request, state, archivalEndpoint)]
  try {
    const members = read(request, state, element, answerBody)
    if (!(members instanceof Promise)) return [`{"status":200,${members}}`]
    return members.then((pieces) => ['{"status":200,', ...pieces, '}']).catch(fail)
  } catch (error) {
    return fail(error)
  }
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
  // A prune that overtakes the state of the batch ends it. An element may also name a version that was pruned before.
  if (status === 410) request.pin({ version: state.version })
  return `{"status":${status},"error":${body}}`
}

function readTableItemElement(request: OperationRequest, state: LedgerState, element: JsonObject): string {
  const handle = parseAddressMember(element, 'table_handle', 'TableItemElement')
  if (element.get('raw_key') !== undefined) {
    return `"bytes":"${bytesToHex(state.readRawTableItem(handle, parseHexMember(element, 'raw_key', 'TableItemElement')))}"`
  }
  const typeOf = (name: string) => parseTypeMember(request, name, stringMember(element, name, 'TableItemElement'))
  const keyType = typeOf('key_type')
  const valueType = typeOf('value_type')
  return `"value":${state.readTableItem({ handle, keyType, valueType, key: element.get('key') ?? null }).toJson()}`
}

function readBalanceElement(request: OperationRequest, state: LedgerState, element: JsonObject): string {
  const owner = parseAddressMember(element, 'address', 'BalanceElement')
  return `"value":${state.readBalance(owner, parseAssetMember(request, element, 'asset_type', 'BalanceElement'))}`
}

function readResourceElement(request: OperationRequest, state: LedgerState, element: JsonObject): string {
  const address = parseAddressMember(element, 'address', 'ResourceElement')
  const text = stringMember(element, 'resource_type', 'ResourceElement')
  const type = parseTypeMember(request, 'resource_type', text)
  if (!isStructTag(type)) throw structTagExpected('request payload: member `resource_type`', text)
  return `"value":${resourceToJson(state.readResource(address, type))}`
}
