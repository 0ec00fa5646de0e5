import { onlyBcsOffered } from '../errors.js'
import { acceptsOnlyJson } from '../protocol/accept.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import { BODY_ERRORS, LEDGER_VERSION_PARAMETER, type Operation } from './operation.js'
import {
  expectJsonContentType,
  parseAddressParameter,
  parseLedgerVersion,
  parseRawTableItemBody,
} from './request-parts.js'
import { TABLE_HANDLE_PARAMETER } from './table-item.js'

export const getRawTableItem: Operation = {
  id: 'get_raw_table_item',
  method: 'POST',
  path: '/v1/tables/{table_handle}/raw_item',
  negotiates: false,
  tag: 'Tables',
  summary: 'Get raw table item',
  description: 'Reads an item of a table by its serialized key. The answer is the stored bytes; there is no JSON form.',
  parameters: [TABLE_HANDLE_PARAMETER, LEDGER_VERSION_PARAMETER],
  requestBody: { $ref: '#/components/schemas/RawTableItemRequest' },
  success: { bcs: { $ref: '#/components/schemas/Bytes' } },
  errors: BODY_ERRORS,
  handle(request) {
    const handle = parseAddressParameter('table_handle', request.params.table_handle!)
    expectJsonContentType(request.contentType)
    const { key } = parseRawTableItemBody(request.body)
    const version = parseLedgerVersion(request.query)
    if (acceptsOnlyJson(request.accept)) throw onlyBcsOffered('Get raw table item')
    request.expectOutput('bcs', 'Get raw table item')
    const state = request.pin(version)
    return { ledger: state.ledger, contentType: CONTENT_TYPE.bcs, body: state.readRawTableItem(handle, key) }
  },
}
