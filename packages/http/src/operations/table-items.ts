import { addressToShortHex, bytesToHex, parseAddress } from '@ledger-state/core'
import {
  type FoundTableTypes,
  findTableTypes,
  type LedgerState,
  type ListedTableItem,
  listTableItems,
  type StoredValue,
  type TableTypes,
} from '@ledger-state/ledger'
import { type TypeTag, typeTagToText } from '@ledger-state/type-tag'
import type { ItemText } from '../formats/item-text.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import { DEFAULT_PAGE, MAX_PAGE } from './parts/history-page.js'
import { type Operation, type OperationRequest, STATE_ERRORS, STATE_PARAMETERS } from './parts/operation.js'
import { PrintedArrayBody } from './parts/page-bodies.js'
import { listCursor, parsePageStart, pinPage } from './parts/page-start.js'
import {
  limitParameter,
  pageLimit,
  parseLimit,
  parseStateKeyPlace,
  readListing,
  START_PARAMETER,
} from './parts/paging.js'
import { parameterOf, parseAddressParameter, parseAskedState } from './parts/request-parts.js'
import { TABLE_HANDLE_PARAMETER } from './parts/table-parts.js'
import { TurnBudget } from './parts/turn-budget.js'

/** Text before a value of a known type, and before the bytes of another. */
interface MemberTexts {
  readonly typed: Uint8Array
  readonly raw: Uint8Array
}

const MEMBERS = {
  key: { typed: Buffer.from('{"key":'), raw: Buffer.from('{"raw_key":') },
  value: { typed: Buffer.from(',"value":'), raw: Buffer.from(',"raw_value":') },
} as const
const END = 0x7d

const TYPE_OR_NULL = { oneOf: [{ $ref: '#/components/schemas/MoveType' }, { type: 'null' }] }

export const getTableItems: Operation = {
  id: 'get_table_items',
  method: 'GET',
  path: '/v1/tables/{table_handle}/items',
  negotiates: false,
  takesTurns: true,
  tag: 'Tables',
  summary: 'Get table items',
  description:
    'Lists the items of a table, in the order of the bytes of their keys, in pages. The request gives the types, or `holder` names an account in which they are found: in the resource that holds the handle, or in an item of a table that leads there. If a type is unknown, the item has `raw_key` and `raw_value` in hex.',
  parameters: [
    TABLE_HANDLE_PARAMETER,
    {
      name: 'key_type',
      in: 'query',
      description: 'The type of the keys.',
      schema: { $ref: '#/components/schemas/MoveType' },
    },
    {
      name: 'value_type',
      in: 'query',
      description: 'The type of the values.',
      schema: { $ref: '#/components/schemas/MoveType' },
    },
    {
      name: 'holder',
      in: 'query',
      description:
        'An account that holds the table, or a table that leads to it; types that the request does not give are found there.',
      schema: { $ref: '#/components/schemas/Address' },
    },
    ...STATE_PARAMETERS,
    START_PARAMETER,
    limitParameter(DEFAULT_PAGE, MAX_PAGE),
  ],
  success: {
    json: {
      type: 'object',
      required: ['key_type', 'value_type', 'found_in', 'items'],
      properties: {
        key_type: TYPE_OR_NULL,
        value_type: TYPE_OR_NULL,
        found_in: { type: ['string', 'null'], description: 'The resource of `holder` in which the types were found.' },
        found_in_item: {
          type: 'object',
          description: 'The table item that holds the handle, if the resource does not hold it directly.',
          properties: { table_handle: { $ref: '#/components/schemas/Address' }, raw_key: { type: 'string' } },
        },
        items: {
          type: 'array',
          items: {
            type: 'object',
            properties: { key: {}, value: {}, raw_key: { type: 'string' }, raw_value: { type: 'string' } },
          },
        },
      },
    },
  },
  isPaged: true,
  errors: STATE_ERRORS,
  async handle(request) {
    const { query, ledger } = request
    const handle = parseAddressParameter('table_handle', request.params.table_handle!)
    const keyType = parameterOf(query, 'key_type', (text) => ledger.parseType(text))
    const valueType = parameterOf(query, 'value_type', (text) => ledger.parseType(text))
    const holder = parameterOf(query, 'holder', parseAddress)
    const asked = parseAskedState(query)
    const start = parsePageStart(query, parseStateKeyPlace)
    const askedLimit = parseLimit(query)
    request.expectOutput('json', 'Get table items')
    const state = pinPage(request, asked, start)
    const limit = pageLimit(askedLimit, DEFAULT_PAGE, MAX_PAGE)
    const types = await completeTypes(request, state, handle, holder, { keyType, valueType })
    const description = JSON.stringify({
      key_type: typeText(types.keyType),
      value_type: typeText(types.valueType),
      found_in: typeText(types.foundIn),
      ...(types.foundInItem && {
        found_in_item: {
          table_handle: addressToShortHex(types.foundInItem.handle),
          raw_key: bytesToHex(types.foundInItem.key),
        },
      }),
    })
    const out = request.openBody().text(`${description.slice(0, -1)},"items":`)
    const { body, cursor } = await readListing(
      request,
      (options) => listTableItems(state, handle, types, { ...options, start: start?.place, limit }),
      new PrintedArrayBody(out, printItem),
    )
    return {
      ledger: state.ledger,
      contentType: CONTENT_TYPE.json,
      body: body.text('}'),
      cursor: listCursor(cursor, state),
    }
  },
}

type KnownTypes = TableTypes & Partial<Pick<FoundTableTypes, 'foundIn' | 'foundInItem'>>

/**
 * Takes the types in the request, and searches for the others in the account that it names, in turns of the event loop.
 */
async function completeTypes(
  request: OperationRequest,
  state: LedgerState,
  handle: Uint8Array,
  holder: Uint8Array | undefined,
  { keyType, valueType }: TableTypes,
): Promise<KnownTypes> {
  if (!holder || (keyType && valueType)) return { keyType, valueType }
  const turn = new TurnBudget(request)
  const search = findTableTypes(state, handle, holder)
  let step = search.next()
  for (; !step.done; step = search.next()) if (turn.isSpent) await turn.nextTurn()
  return { ...step.value, ...(keyType && { keyType }), ...(valueType && { valueType }) }
}

function typeText(type: TypeTag | undefined): string | null {
  return type ? typeTagToText(type) : null
}

function printItem({ keyBytes, bytes, key, value }: ListedTableItem, text: ItemText): void {
  printMember(MEMBERS.key, key, keyBytes, text)
  printMember(MEMBERS.value, value, bytes, text)
  text.json.byte(END)
}

function printMember(names: MemberTexts, typed: StoredValue | undefined, bytes: Uint8Array, text: ItemText): void {
  const { json } = text
  if (typed) {
    json.raw(names.typed)
    text.value(typed)
    return
  }
  json.raw(names.raw)
  json.quotedHex(bytes, 0, bytes.length)
}
