import { ByteWriter } from '@ledger-state/core'
import { SERVED_VIEWS, type StoredValue } from '@ledger-state/ledger'
import { chooseFormat } from '../protocol/accept.js'
import { CONTENT_TYPE, VIEW_FUNCTION_BCS } from '../protocol/media-types.js'
import { BODY_ERRORS, type Operation, STATE_PARAMETERS } from './operation.js'
import { parseAskedState } from './request-parts.js'
import { parseViewCall } from './view-request.js'

export const callView: Operation = {
  id: 'view',
  method: 'POST',
  path: '/v1/view',
  negotiates: true,
  tag: 'View',
  summary: 'Execute view function',
  description: `Answers the view functions that are plain reads of balances: ${SERVED_VIEWS.map((name) => `\`${name}\``).join(' and ')}. Any other is 403. In BCS: the number of values, and each value.`,
  parameters: STATE_PARAMETERS,
  requestBody: { $ref: '#/components/schemas/ViewRequest' },
  bcsRequestType: VIEW_FUNCTION_BCS,
  success: { json: { type: 'array', items: {} }, bcs: { $ref: '#/components/schemas/Bytes' } },
  errors: BODY_ERRORS,
  handle(request) {
    const format = chooseFormat(request.accept, 'json')
    const call = parseViewCall(request)
    const asked = parseAskedState(request.query)
    request.expectOutput(format, 'View function')
    const typeArguments = call.typeArguments()
    const state = request.pin(asked)
    const values = state.callView({ function: call.function, typeArguments, arguments: call.arguments })
    const body = format === 'json' ? Buffer.from(valuesToJson(values)) : valuesToBcs(values)
    return { ledger: state.ledger, contentType: CONTENT_TYPE[format], body }
  },
}

function valuesToJson(values: readonly StoredValue[]): string {
  return `[${values.map((value) => value.toJson()).join(',')}]`
}

function valuesToBcs(values: readonly StoredValue[]): Uint8Array {
  const writer = new ByteWriter().uleb128(values.length)
  for (const { bytes } of values) writer.bytes(bytes)
  return writer.toBytes()
}
