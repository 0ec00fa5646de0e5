import { tableItemHistory } from '@ledger-state/ledger'
import { printStoredValue } from '../formats/stored-value-formats.js'
import { createHistoryOperation } from './parts/history-operation.js'
import type { Operation } from './parts/operation.js'
import {
  expectJsonContentType,
  parseAddressParameter,
  parseTableItemBody,
  parseTypeMember,
} from './parts/request-parts.js'
import { TABLE_HANDLE_PARAMETER } from './parts/table-parts.js'

export const getTableItemHistory: Operation = createHistoryOperation({
  id: 'get_table_item_history',
  path: '/v1/tables/{table_handle}/item/history',
  summary: 'Get history of a table item',
  description: 'Lists the versions at which an item changed, with its new value, or null if it was deleted.',
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
      return (state, options) => tableItemHistory(state, { handle, keyType, valueType, key: body.key }, options)
    }
  },
  print: printStoredValue,
})
