import { parseAddress } from '@ledger-state/core'
import { versionNotFound } from '@ledger-state/engine'
import {
  expectAllEvents,
  firstVersionOf,
  hasWholeTransactions,
  type LedgerState,
  parseMoment,
  type TableTypes,
} from '@ledger-state/ledger'
import { accountKeyPrefix, isStructTag, type StructTag, tableItemKey, typeTagToText } from '@ledger-state/type-tag'
import { invalidParameter, invalidRequest, operationDisabled } from '../errors.js'
import { TRANSACTION_SCHEMA } from '../formats/transaction-formats.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import { queryParameter } from '../protocol/query.js'
import {
  type Operation,
  type OperationRequest,
  type Parameter,
  STATE_ERRORS,
  type StreamHost,
} from './parts/operation.js'
import { parameterOf, parsePart } from './parts/request-parts.js'
import { parseViewCall } from './parts/view-request.js'
import { liveStream, OPENING } from './stream/live-stream.js'
import { EventEntries, type StreamEntries, ViewEntries, WriteEntries } from './stream/stream-entries.js'
import { idToPlace, moveToLedger, parsePosition, type StreamPosition } from './stream/stream-position.js'
import {
  changesOfHolders,
  EVERY_WRITE,
  type WriteFilter,
  writesOfAccount,
  writesOfResource,
  writesOfTable,
} from './stream/write-filters.js'

const TYPE = { $ref: '#/components/schemas/MoveType' }

function filterParameter(name: string, description: string, schema: Parameter['schema']): Parameter {
  return { name, in: 'query', description, schema }
}

const PARAMETERS: readonly Parameter[] = [
  {
    name: 'from',
    in: 'query',
    description:
      'First version, or a time as RFC 3339 or a date; the version after the latest one when omitted. The header `Last-Event-ID` replaces it.',
    schema: { type: 'string' },
  },
  filterParameter('account', 'Resources and modules of an account or object.', {
    $ref: '#/components/schemas/Address',
  }),
  filterParameter('table', 'Items of the table with this handle.', { $ref: '#/components/schemas/Address' }),
  filterParameter('key_type', 'With `table`: the type of its keys, which `data` is decoded with.', TYPE),
  filterParameter('value_type', 'With `table`: the type of its values.', TYPE),
  filterParameter('resource_type', 'Resources of a type, of all accounts or of `account`.', TYPE),
  filterParameter('asset_type', 'Balances of the holders of a coin or fungible asset.', {
    $ref: '#/components/schemas/AssetType',
  }),
  filterParameter('event_type', 'Events of a type, if the store keeps whole transactions.', TYPE),
  filterParameter('view', 'The call of a view function as JSON, as the body of `/v1/view`: changes of its answer.', {
    type: 'string',
  }),
  {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The id of the last event that the client has: the stream continues after it.',
    schema: { type: 'string' },
  },
]

/** Filters of a stream. It may have one, or two together. */
const FILTERS = ['account', 'table', 'resource_type', 'asset_type', 'event_type', 'view']

export const getStream: Operation = {
  id: 'get_stream',
  method: 'GET',
  path: '/v1/stream',
  negotiates: false,
  takesTurns: true,
  seenPlace: idToPlace,
  tag: 'Stream',
  summary: 'Follow changes',
  description:
    'Server-Sent Events: an entry for each version with changes that the filter selects, in the order of versions, each once. A client that sends the id of its last event as `Last-Event-ID` continues after it. An event with an id only says that the client has all entries up to this version: it comes at the beginning, when the stream first reaches the latest version, and after 10 s of silence. After a truncation the event `truncated` has the newest version that was left. `reconnect` asks a client to connect again, for example because it reads too slowly; `pruned` says that its next version is not kept.',
  parameters: PARAMETERS,
  success: {
    events: {
      type: 'object',
      description: 'The `data` of an entry.',
      required: ['version', 'timestamp'],
      properties: {
        version: { $ref: '#/components/schemas/U64' },
        timestamp: { $ref: '#/components/schemas/U64' },
        changes: {
          type: 'array',
          items: { type: 'object' },
          description:
            'Written and deleted values, as in the changes of a transaction; with `asset_type`, the balance of an owner in a store before and after.',
        },
        events: { type: 'array', items: { $ref: '#/components/schemas/VersionedEvent' } },
        values: { type: 'array', items: {}, description: 'The answer of the view since this version.' },
        error: { $ref: '#/components/schemas/Error' },
        transaction: TRANSACTION_SCHEMA,
      },
    },
  },
  errors: STATE_ERRORS,
  handle(request) {
    const { query } = request
    const openEntries = parseEntries(request)
    const from = parameterOf(query, 'from', parseMoment)
    const { lastEventId } = request
    const last =
      lastEventId === undefined ? undefined : parsePart('header `Last-Event-ID`', () => parsePosition(lastEventId))
    request.expectOutput('json', 'Follow changes')
    const openHost = request.expectStreams()
    const state = request.pin(undefined)
    const { ledger } = state
    const first = last || !from ? undefined : firstVersionOf(request.ledger, from)
    if (first !== undefined && first > ledger.latestVersion + 1n) throw versionNotFound(first)
    const asked: StreamPosition = last ?? {
      version: first === undefined ? ledger.latestVersion : first - 1n,
      branch: undefined,
    }
    const { position, isCut } = moveToLedger(asked, ledger)
    const open = openEntries(state, position.version)
    const host = openHost()
    return {
      ledger,
      contentType: CONTENT_TYPE.events,
      headers: ['x-accel-buffering', 'no'],
      body: OPENING,
      rest: {
        chunks: toBytes(liveStream(host, () => open(host), position, isCut)),
        late: new AbortController().signal,
        isLive: true,
      },
    }
  },
}

type OpenEntries = (host: StreamHost) => StreamEntries

/**
 * Parses the filter. The returned function checks it against a state, and the version after which the stream begins.
 * @throws `invalid_request`, `invalid_parameter`
 */
function parseEntries(request: OperationRequest): (state: LedgerState, after: bigint) => OpenEntries {
  const { query, ledger } = request
  const given = FILTERS.filter((name) => queryParameter(query, name) !== undefined)
  const isAccountAndType = given.length === 2 && given[0] === 'account' && given[1] === 'resource_type'
  if (given.length > 1 && !isAccountAndType) throw invalidParameter.streamFilters(given)
  const account = parameterOf(query, 'account', parseAddress)
  const table = parameterOf(query, 'table', parseAddress)
  const keyType = parameterOf(query, 'key_type', (text) => ledger.parseType(text))
  const valueType = parameterOf(query, 'value_type', (text) => ledger.parseType(text))
  const types: TableTypes = { keyType, valueType }
  const hasTypes = keyType !== undefined || valueType !== undefined
  if (hasTypes && (!table || !keyType || !valueType)) throw invalidParameter.tableTypesWithoutTable()
  const resource = parseResourceFilter(request)
  const asset = parameterOf(query, 'asset_type', (text) => ledger.parseAsset(text))
  const event = parameterOf(query, 'event_type', (text) => ledger.parseType(text))
  // Free text is decoded once: it may have a % of its own.
  const view = queryParameter(query, 'view')
  if (event) return (state, after) => ofEvents(state, after, (host) => new EventEntries(host, event))
  if (view !== undefined) return ofView(request, view)
  const filter: WriteFilter = table
    ? writesOfTable(table, types)
    : resource
      ? writesOfResource(resource, account)
      : asset
        ? changesOfHolders(asset)
        : account
          ? writesOfAccount(account)
          : EVERY_WRITE
  return (state) => {
    // Over a slice, a read of something that it does not keep is refused.
    if (account) state.view.get(accountKeyPrefix(account))
    if (table) state.view.get(tableItemKey(table, new Uint8Array(0)))
    return (host) => new WriteEntries(host, filter)
  }
}

function ofEvents(state: LedgerState, after: bigint, open: OpenEntries): OpenEntries {
  if (!hasWholeTransactions(state)) throw operationDisabled.eventsNotKept()
  expectAllEvents(state)
  state.transactions.expectSince(after + 1n)
  return open
}

function ofView(request: OperationRequest, text: string): () => OpenEntries {
  const { rules } = request.views
  const { ledger } = request
  const readCall = parsePart('parameter `view`', () =>
    parseViewCall({ contentType: CONTENT_TYPE.json, body: Buffer.from(text), ledger }),
  )
  rules.expectServed()
  return () => {
    const call = readCall()
    rules.expectAllowed(call.address, call.module, call.function)
    return (host) => new ViewEntries(host, call)
  }
}

function parseResourceFilter({ query, ledger }: OperationRequest): StructTag | undefined {
  const type = parameterOf(query, 'resource_type', (text) => ledger.parseType(text))
  if (!type || isStructTag(type)) return type
  throw invalidRequest.structTagExpected('parameter `resource_type`', typeTagToText(type))
}

async function* toBytes(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const text of texts) yield Buffer.from(text)
}
