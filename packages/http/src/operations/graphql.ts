import { isJsonObject, JsonNumber, type JsonObject, type JsonValue } from '@ledger-state/bcs'
import { clip, isLedgerStateError, parseU64 } from '@ledger-state/core'
import type { LedgerSummary } from '@ledger-state/engine'
import { blockTimesOf, type LedgerState, type Moment } from '@ledger-state/ledger'
import { LedgerHasher } from '@ledger-state/proof'
import { invalidParameter } from '../errors.js'
import { FieldAnswerer } from '../graphql/answer-fields.js'
import { GraphqlFault } from '../graphql/graphql-fault.js'
import { MOST_LEVELS } from '../graphql/limits.js'
import type { DocumentReader, GraphqlRequest } from '../graphql/read-document.js'
import { TABLES } from '../graphql/tables.js'
import { errorToReply, MAX_MESSAGE_LENGTH } from '../protocol/error-reply.js'
import { READ_LIMITS } from '../protocol/json-body.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import { versionInHeader } from './parts/named-place.js'
import { type Answer, BODY_ERRORS, type Operation, type OperationRequest, STATE_PARAMETERS } from './parts/operation.js'
import { MAX_PAGE_BYTES } from './parts/paging.js'
import {
  expectJsonContentType,
  parseAskedState,
  parseJsonBody,
  parsePart,
  stringMember,
} from './parts/request-parts.js'
import { TurnBudget } from './parts/turn-budget.js'

/** Name of the variable that chooses the version, which documents need not declare. */
const VERSION_VARIABLE = 'ledger_version'

/** Creates the operation that answers the documents of indexer clients. */
export function createGraphqlOperation(archivalEndpoint: string | undefined): Operation {
  let reader: DocumentReader | undefined
  return {
    id: 'graphql',
    method: 'POST',
    path: '/v1/graphql',
    negotiates: false,
    takesTurns: true,
    tag: 'Holdings',
    summary: 'Answer a GraphQL document',
    description:
      'Answers the documents that clients send to an indexer, as far as the state can: balances and metadata of assets, objects, tokens and collections, with the names, filters, order and pages of the public indexer. All other fields are refused by name. The query, the header `x-<word>-ledger-version`, or the variable `ledger_version` chooses the version; an indexer has only the newest state. A fault of the document is a 200 with `errors`.',
    parameters: STATE_PARAMETERS,
    readsVersionHeader: true,
    requestBody: {
      type: 'object',
      required: ['query'],
      properties: {
        query: { type: 'string' },
        variables: { type: ['object', 'null'] },
        operationName: { type: ['string', 'null'] },
      },
    },
    success: {
      json: {
        type: 'object',
        properties: {
          data: { type: 'object' },
          errors: {
            type: 'array',
            items: { $ref: '#/components/schemas/GraphqlError' },
          },
        },
      },
    },
    errors: BODY_ERRORS,
    namedPlace: versionInHeader,
    async handle(request) {
      let ledger: LedgerSummary | undefined
      try {
        const { state, body } = pinDocument(request)
        ledger = state.ledger
        reader ??= await openReader()
        return await answerDocument(request, state, reader.read(toGraphqlRequest(body)))
      } catch (error) {
        return errorToAnswer(error, ledger, archivalEndpoint)
      }
    },
  }
}

/** Reads the body, and pins the state that it or the request names. */
function pinDocument(request: OperationRequest): { readonly state: LedgerState; readonly body: JsonObject } {
  expectJsonContentType(request.contentType)
  const body = parseJsonBody(request.body, 'GraphqlRequest', READ_LIMITS)
  const asked = parseVersion(request, body)
  request.expectOutput('json', 'Answer a GraphQL document')
  return { state: request.pin(asked), body }
}

async function answerDocument(
  request: OperationRequest,
  state: LedgerState,
  fields: ReturnType<DocumentReader['read']>,
): Promise<Answer> {
  const turn = new TurnBudget(request)
  const out = request.openBody()
  let hasher: LedgerHasher | undefined
  const source = {
    state,
    timeOf: blockTimesOf(state),
    hasher() {
      // Without whole transactions and without trees, the store does not know another salt than that of Aptos.
      hasher ??= state.transactions.hasher ?? new LedgerHasher(request.proofs?.hashSalt)
      return hasher
    },
    hold: (bytes: number) => request.hold(bytes),
  }
  const place = { out, mostBytes: MAX_PAGE_BYTES, isSpent: () => turn.isSpent, nextTurn: () => turn.nextTurn() }
  await new FieldAnswerer(source, place).answer(fields)
  return { ledger: state.ledger, contentType: CONTENT_TYPE.json, body: out }
}

/**
 * The answer to a failed document: clients of an indexer expect `errors`. A fault of the document is a 200, as an
 * indexer answers it; all other errors have the status and the members that they have elsewhere, too.
 */
function errorToAnswer(
  error: unknown,
  ledger: LedgerSummary | undefined,
  archivalEndpoint: string | undefined,
): Answer {
  const contentType = CONTENT_TYPE.json
  if (error instanceof GraphqlFault) {
    return {
      ledger,
      contentType,
      body: Buffer.from(`{${errorsMember(error.message, error.path, 'validation-failed')}}`),
    }
  }
  const { status, headers, body, unexpected } = errorToReply(error, archivalEndpoint)
  // Faults of the service end the request, so that they are reported; so do overload and a client that left.
  if (unexpected || !isLedgerStateError(error) || isLedgerStateError(error, 'overloaded', 'client_left')) throw error
  const errors = errorsMember(error.message, '$', error.code)
  return { ledger, status, headers, contentType, body: Buffer.from(`{${errors},${body.slice(1)}`) }
}

function errorsMember(message: string, path: string, code: string): string {
  return `"errors":${JSON.stringify([{ message: clip(message, MAX_MESSAGE_LENGTH), extensions: { path, code } }])}`
}

/** Loads the library for the first document, in about 60 ms: most processes never get one. */
async function openReader(): Promise<DocumentReader> {
  const [{ createDocumentReader }, { createSchema }] = await Promise.all([
    import('../graphql/read-document.js'),
    import('../graphql/schema.js'),
  ])
  return createDocumentReader(createSchema(TABLES), TABLES)
}

/** The state that the query, the header or the variable names. */
function parseVersion(request: OperationRequest, body: JsonObject): Moment | undefined {
  const variables = body.get('variables')
  const variable = isJsonObject(variables) ? variables.get(VERSION_VARIABLE) : undefined
  const header = request.askedVersion
  const named: (Moment | undefined)[] = [
    parseAskedState(request.query),
    header === undefined ? undefined : { version: parsePart('header `ledger-version`', () => parseU64(header)) },
    variable === undefined || variable === null
      ? undefined
      : { version: parsePart(`variable \`${VERSION_VARIABLE}\``, () => parseU64(textOf(variable))) },
  ]
  const [asked, ...others] = named.filter((one) => one !== undefined)
  if (others.length > 0) throw invalidParameter.versionTwice()
  return asked
}

function textOf(value: JsonValue): string {
  return value instanceof JsonNumber ? value.text : String(value)
}

function toGraphqlRequest(body: JsonObject): GraphqlRequest {
  const variables = body.get('variables') ?? null
  if (variables !== null && !isJsonObject(variables))
    throw new GraphqlFault('`variables` is not an object', '$.variables')
  const operationName = body.get('operationName') ?? null
  if (operationName !== null && typeof operationName !== 'string') {
    throw new GraphqlFault('`operationName` is not a string', '$.operationName')
  }
  return {
    query: stringMember(body, 'query', 'GraphqlRequest'),
    variables: variables === null ? {} : (toPlain(variables, 0) as GraphqlRequest['variables']),
    operationName: operationName ?? undefined,
  }
}

/** A JSON value as JavaScript has it. Numbers that it cannot have exactly become bigints. */
function toPlain(value: JsonValue, level: number): unknown {
  if (value instanceof JsonNumber) return toNumber(value.text)
  if (level > MOST_LEVELS) throw new GraphqlFault(`variables have at most ${MOST_LEVELS} levels`, '$.variables')
  if (isJsonObject(value)) {
    const object = Object.create(null) as Record<string, unknown>
    for (let member = value.first; member; member = member.next) object[member.name] = toPlain(member.value, level + 1)
    return object
  }
  return Array.isArray(value) ? value.map((item: JsonValue) => toPlain(item, level + 1)) : value
}

/** Longest text of a whole number that is read exactly. The time to read one grows with the square of its length. */
const LONGEST_NUMBER = 80

function toNumber(text: string): number | bigint {
  const number = Number(text)
  const isWhole = text.length <= LONGEST_NUMBER && /^-?\d+$/.test(text)
  return isWhole && !Number.isSafeInteger(number) ? BigInt(text) : number
}
