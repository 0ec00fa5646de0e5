import { readRawTableItem } from '@ledger-state/ledger'
import { tableItemKey } from '@ledger-state/type-tag'
import { BODY_ERRORS, type Operation, STATE_PARAMETERS } from './parts/operation.js'
import {
  expectJsonContentType,
  parseAddressParameter,
  parseAskedState,
  parseRawTableItemBody,
} from './parts/request-parts.js'
import { answerRead, chooseRawFormat, hexValue, PROOF_PARAMETERS, parseAskedProof } from './parts/state-read.js'
import { TABLE_HANDLE_PARAMETER } from './parts/table-parts.js'

export const getRawTableItem: Operation = {
  id: 'get_raw_table_item',
  method: 'POST',
  path: '/v1/tables/{table_handle}/raw_item',
  negotiates: false,
  tag: 'Tables',
  summary: 'Get raw table item',
  description:
    'Reads an item of a table by its serialized key. The answer is the stored bytes; there is no JSON form, except with a proof: then `value` is hex.',
  parameters: [TABLE_HANDLE_PARAMETER, ...STATE_PARAMETERS, ...PROOF_PARAMETERS],
  requestBody: { $ref: '#/components/schemas/RawTableItemRequest' },
  success: { bcs: { $ref: '#/components/schemas/Bytes' } },
  errors: BODY_ERRORS,
  handle(request) {
    const handle = parseAddressParameter('table_handle', request.params.table_handle!)
    expectJsonContentType(request.contentType)
    const { key } = parseRawTableItemBody(request.body)
    const asked = parseAskedState(request.query)
    const proof = parseAskedProof(request)
    return answerRead(request, proof, {
      format: chooseRawFormat(request, proof, 'Get raw table item'),
      asked,
      keyOf: () => tableItemKey(handle, key),
      read: (state) => hexValue(readRawTableItem(state, handle, key)),
    })
  },
}
