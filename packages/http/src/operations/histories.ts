import { bytesToHex } from '@ledger-state/core'
import type { StoredValue } from '@ledger-state/ledger'
import { ADDRESS_PARAMETER, parseAccountAddress, parseResourceType } from './account-parts.js'
import { createHistoryOperation } from './history-operation.js'
import type { Operation } from './operation.js'
import {
  expectJsonContentType,
  parseAddressParameter,
  parseAssetParameter,
  parseRawTableItemBody,
  parseTableItemBody,
  parseTypeMember,
} from './request-parts.js'
import { TABLE_HANDLE_PARAMETER } from './table-item.js'

/** JSON of a stored value; null for one that was deleted. */
function storedValueToJson(value: StoredValue | undefined): string {
  return value?.toJson() ?? 'null'
}

export const getBalanceHistory: Operation = createHistoryOperation<bigint>({
  id: 'get_account_balance_history',
  path: '/v1/accounts/{address}/balance/{asset_type}/history',
  summary: 'Get history of an account balance',
  description: 'Lists the versions at which a balance changed, coin store and primary store together.',
  subject: [
    ADDRESS_PARAMETER,
    {
      name: 'asset_type',
      in: 'path',
      description: 'A coin type, or the metadata address of a fungible asset.',
      schema: { $ref: '#/components/schemas/AssetType' },
    },
  ],
  member: 'balance',
  schema: { $ref: '#/components/schemas/U64' },
  csv: { column: 'balance', toText: String },
  parse(request) {
    const owner = parseAccountAddress(request)
    const asset = parseAssetParameter(request, request.params.asset_type!)
    return () => (state, options) => state.balanceHistory(owner, asset, options)
  },
  measure: (balance) => balance,
  toJson: (balance) => `"${balance}"`,
})

export const getResourceHistory: Operation = createHistoryOperation({
  id: 'get_account_resource_history',
  path: '/v1/accounts/{address}/resource/{resource_type}/history',
  summary: 'Get history of an account resource',
  description:
    'Lists the versions at which a resource changed, with what it was from there on, null where it was deleted.',
  subject: [
    ADDRESS_PARAMETER,
    {
      name: 'resource_type',
      in: 'path',
      description: 'The struct tag of the resource.',
      schema: { $ref: '#/components/schemas/MoveType' },
    },
  ],
  member: 'value',
  schema: { type: ['object', 'null'] },
  parse(request) {
    const address = parseAccountAddress(request)
    const type = parseResourceType(request)
    return () => (state, options) => state.resourceHistory(address, type, options)
  },
  toJson: storedValueToJson,
})

export const getTableItemHistory: Operation = createHistoryOperation({
  id: 'get_table_item_history',
  path: '/v1/tables/{table_handle}/item/history',
  summary: 'Get history of a table item',
  description:
    'Lists the versions at which an item changed, with what it was from there on, null where it was deleted.',
  subject: [TABLE_HANDLE_PARAMETER],
  requestBody: { $ref: '#/components/schemas/TableItemRequest' },
  member: 'value',
  schema: {},
  parse(request) {
    const handle = parseAddressParameter('table_handle', request.params.table_handle!)
    expectJsonContentType(request.contentType)
    const body = parseTableItemBody(request.body)
    return () => {
      const keyType = parseTypeMember(request, 'key_type', body.keyType)
      const valueType = parseTypeMember(request, 'value_type', body.valueType)
      return (state, options) => state.tableItemHistory({ handle, keyType, valueType, key: body.key }, options)
    }
  },
  toJson: storedValueToJson,
})

export const getRawTableItemHistory: Operation = createHistoryOperation<Uint8Array | undefined>({
  id: 'get_raw_table_item_history',
  path: '/v1/tables/{table_handle}/raw_item/history',
  summary: 'Get history of a raw table item',
  description: 'As the history of a table item, by the serialized key; values are the stored bytes in hex.',
  subject: [TABLE_HANDLE_PARAMETER],
  requestBody: { $ref: '#/components/schemas/RawTableItemRequest' },
  member: 'value',
  schema: { type: ['string', 'null'], format: 'hex' },
  parse(request) {
    const handle = parseAddressParameter('table_handle', request.params.table_handle!)
    expectJsonContentType(request.contentType)
    const { key } = parseRawTableItemBody(request.body)
    return () => (state, options) => state.rawTableItemHistory(handle, key, options)
  },
  toJson: (value) => (value ? `"${bytesToHex(value)}"` : 'null'),
})
