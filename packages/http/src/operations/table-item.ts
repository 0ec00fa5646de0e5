import { readTableItem, tableItemStateKey } from '@ledger-state/ledger'
import { chooseFormat } from '../protocol/accept.js'
import { BODY_ERRORS, type Operation, STATE_PARAMETERS } from './parts/operation.js'
import {
  expectJsonContentType,
  parseAddressParameter,
  parseAskedState,
  parseTableItemBody,
  parseTypeMember,
} from './parts/request-parts.js'
import { answerRead, PROOF_PARAMETERS, parseAskedProof } from './parts/state-read.js'
import { TABLE_HANDLE_PARAMETER } from './parts/table-parts.js'

export const getTableItem: Operation = {
  id: 'get_table_item',
  method: 'POST',
  path: '/v1/tables/{table_handle}/item',
  negotiates: true,
  tag: 'Tables',
  summary: 'Get table item',
  description: 'Reads an item of a table by its typed key. POST, because keys can be structured values.',
  parameters: [TABLE_HANDLE_PARAMETER, ...STATE_PARAMETERS, ...PROOF_PARAMETERS],
  requestBody: { $ref: '#/components/schemas/TableItemRequest' },
  success: {
    json: { description: 'The value; its shape follows `value_type`. With `proof=true`: `{value, proof}`.' },
    bcs: { $ref: '#/components/schemas/Bytes' },
  },
  errors: BODY_ERRORS,
  handle(request) {
    const format = chooseFormat(request.accept, 'json')
    const handle = parseAddressParameter('table_handle', request.params.table_handle!)
    expectJsonContentType(request.contentType)
    const body = parseTableItemBody(request.body)
    const asked = parseAskedState(request.query)
    const proof = parseAskedProof(request)
    request.expectOutput(format, 'Get table item')
    const keyType = parseTypeMember(request, 'key_type', body.keyType)
    const valueType = parseTypeMember(request, 'value_type', body.valueType)
    return answerRead(request, proof, {
      format,
      asked,
      keyOf: (state) => tableItemStateKey(state, { handle, keyType, key: body.key }),
      read(state) {
        const item = readTableItem(state, { handle, keyType, valueType, key: body.key })
        return { bytes: item.bytes, toJson: () => item.toJsonUtf8InSteps() }
      },
    })
  },
}
