import { bytesToHex } from '@ledger-state/core'
import type { Change, StoredValue } from '@ledger-state/ledger'
import { prefersCsv } from '../protocol/accept.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import { ADDRESS_PARAMETER, parseAccountAddress, parseResourceType } from './account-parts.js'
import { BalanceCsvBody, changeToJson } from './history-formats.js'
import { HISTORY_PARAMETERS, parseHistoryRange, readHistory } from './history-page.js'
import { BODY_ERRORS, type JsonSchema, type Operation, STATE_ERRORS } from './operation.js'
import { JsonArrayBody } from './page-bodies.js'
import {
  expectJsonContentType,
  parseAddressParameter,
  parseAssetParameter,
  parseRawTableItemBody,
  parseTableItemBody,
  parseTypeMember,
} from './request-parts.js'
import { TABLE_HANDLE_PARAMETER } from './table-item.js'

const PAGES =
  'Newest first, or `order=asc`; in pages. What was written before the window stands under the version that wrote it, without a time.'

function changesOf(member: string, value: JsonSchema) {
  return {
    type: 'array',
    items: {
      type: 'object',
      required: ['version', 'timestamp', member],
      properties: {
        version: { $ref: '#/components/schemas/U64' },
        timestamp: { oneOf: [{ $ref: '#/components/schemas/U64' }, { type: 'null' }] },
        [member]: value,
      },
    },
  }
}

/** Null for what is not there any more. */
function storedChangeToJson(change: Change<StoredValue | undefined>): string {
  return changeToJson(change, 'value', change.value?.toJson() ?? 'null')
}

export const getBalanceHistory: Operation = {
  id: 'get_account_balance_history',
  method: 'GET',
  path: '/v1/accounts/{address}/balance/{asset_type}/history',
  negotiates: true,
  tag: 'Histories',
  summary: 'Get history of an account balance',
  description: `Lists the versions at which a balance changed, coin store and primary store together. ${PAGES}`,
  parameters: [
    ADDRESS_PARAMETER,
    {
      name: 'asset_type',
      in: 'path',
      description: 'A coin type, or the metadata address of a fungible asset.',
      schema: { $ref: '#/components/schemas/AssetType' },
    },
    ...HISTORY_PARAMETERS,
  ],
  success: {
    json: changesOf('balance', { $ref: '#/components/schemas/U64' }),
    csv: { type: 'string', description: 'The columns version, timestamp and balance.' },
  },
  isPaged: true,
  tellsCompleteness: true,
  errors: STATE_ERRORS,
  async handle(request) {
    const isCsv = prefersCsv(request.accept)
    const owner = parseAccountAddress(request)
    const asset = parseAssetParameter(request, request.params.asset_type!)
    const range = parseHistoryRange(request.query)
    request.expectOutput('json', 'Get history of an account balance')
    const toJson = (change: Change<bigint>) => changeToJson(change, 'balance', `"${change.value}"`)
    const page = await readHistory(
      request,
      range,
      (state, options) => state.balanceHistory(owner, asset, options),
      isCsv ? new BalanceCsvBody() : new JsonArrayBody(toJson),
    )
    return { ...page, contentType: CONTENT_TYPE[isCsv ? 'csv' : 'json'] }
  },
}

export const getResourceHistory: Operation = {
  id: 'get_account_resource_history',
  method: 'GET',
  path: '/v1/accounts/{address}/resource/{resource_type}/history',
  negotiates: false,
  tag: 'Histories',
  summary: 'Get history of an account resource',
  description: `Lists the versions at which a resource changed, with what it was from there on, null where it was deleted. ${PAGES}`,
  parameters: [
    ADDRESS_PARAMETER,
    {
      name: 'resource_type',
      in: 'path',
      description: 'The struct tag of the resource.',
      schema: { $ref: '#/components/schemas/MoveType' },
    },
    ...HISTORY_PARAMETERS,
  ],
  success: { json: changesOf('value', { type: ['object', 'null'] }) },
  isPaged: true,
  tellsCompleteness: true,
  errors: STATE_ERRORS,
  async handle(request) {
    const address = parseAccountAddress(request)
    const type = parseResourceType(request)
    const range = parseHistoryRange(request.query)
    request.expectOutput('json', 'Get history of an account resource')
    const page = await readHistory(
      request,
      range,
      (state, options) => state.resourceHistory(address, type, options),
      new JsonArrayBody(storedChangeToJson),
    )
    return { ...page, contentType: CONTENT_TYPE.json }
  },
}

export const getTableItemHistory: Operation = {
  id: 'get_table_item_history',
  method: 'POST',
  path: '/v1/tables/{table_handle}/item/history',
  negotiates: false,
  tag: 'Histories',
  summary: 'Get history of a table item',
  description: `Lists the versions at which an item changed, with what it was from there on, null where it was deleted. ${PAGES}`,
  parameters: [TABLE_HANDLE_PARAMETER, ...HISTORY_PARAMETERS],
  requestBody: { $ref: '#/components/schemas/TableItemRequest' },
  success: { json: changesOf('value', {}) },
  isPaged: true,
  tellsCompleteness: true,
  errors: BODY_ERRORS,
  async handle(request) {
    const handle = parseAddressParameter('table_handle', request.params.table_handle!)
    expectJsonContentType(request.contentType)
    const body = parseTableItemBody(request.body)
    const range = parseHistoryRange(request.query)
    request.expectOutput('json', 'Get history of a table item')
    const keyType = parseTypeMember(request, 'key_type', body.keyType)
    const valueType = parseTypeMember(request, 'value_type', body.valueType)
    const page = await readHistory(
      request,
      range,
      (state, options) => state.tableItemHistory({ handle, keyType, valueType, key: body.key }, options),
      new JsonArrayBody(storedChangeToJson),
    )
    return { ...page, contentType: CONTENT_TYPE.json }
  },
}

export const getRawTableItemHistory: Operation = {
  id: 'get_raw_table_item_history',
  method: 'POST',
  path: '/v1/tables/{table_handle}/raw_item/history',
  negotiates: false,
  tag: 'Histories',
  summary: 'Get history of a raw table item',
  description: `As the history of a table item, by the serialized key; values are the stored bytes in hex. ${PAGES}`,
  parameters: [TABLE_HANDLE_PARAMETER, ...HISTORY_PARAMETERS],
  requestBody: { $ref: '#/components/schemas/RawTableItemRequest' },
  success: { json: changesOf('value', { type: ['string', 'null'], format: 'hex' }) },
  isPaged: true,
  tellsCompleteness: true,
  errors: BODY_ERRORS,
  async handle(request) {
    const handle = parseAddressParameter('table_handle', request.params.table_handle!)
    expectJsonContentType(request.contentType)
    const { key } = parseRawTableItemBody(request.body)
    const range = parseHistoryRange(request.query)
    request.expectOutput('json', 'Get history of a raw table item')
    const toJson = (change: Change<Uint8Array | undefined>) =>
      changeToJson(change, 'value', change.value ? `"${bytesToHex(change.value)}"` : 'null')
    const page = await readHistory(
      request,
      range,
      (state, options) => state.rawTableItemHistory(handle, key, options),
      new JsonArrayBody(toJson),
    )
    return { ...page, contentType: CONTENT_TYPE.json }
  },
}
