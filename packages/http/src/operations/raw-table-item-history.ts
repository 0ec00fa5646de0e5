import { rawTableItemHistory } from '@ledger-state/ledger'
import { NULL } from '../formats/item-text.js'
import { createHistoryOperation } from './parts/history-operation.js'
import type { Operation } from './parts/operation.js'
import { expectJsonContentType, parseAddressParameter, parseRawTableItemBody } from './parts/request-parts.js'
import { TABLE_HANDLE_PARAMETER } from './parts/table-parts.js'

export const getRawTableItemHistory: Operation = createHistoryOperation<Uint8Array | undefined>({
  id: 'get_raw_table_item_history',
  path: '/v1/tables/{table_handle}/raw_item/history',
  summary: 'Get history of a raw table item',
  description: 'Like the history of a table item, but by its serialized key; values are the stored bytes in hex.',
  subject: [TABLE_HANDLE_PARAMETER],
  requestBody: { $ref: '#/components/schemas/RawTableItemRequest' },
  member: 'value',
  schema: { type: ['string', 'null'], format: 'hex' },
  parse(request) {
    const handle = parseAddressParameter('table_handle', request.params.table_handle!)
    expectJsonContentType(request.contentType)
    const { key } = parseRawTableItemBody(request.body)
    return () => (state, options) => rawTableItemHistory(state, handle, key, options)
  },
  print(value, { json }) {
    if (value) json.quotedHex(value, 0, value.length)
    else json.raw(NULL)
  },
})
