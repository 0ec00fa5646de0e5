import { ledgerInfoToBcs, ledgerInfoToJson } from '../formats/ledger-info-formats.js'
import { chooseFormat } from '../protocol/accept.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import type { Operation } from './parts/operation.js'

export const getLedgerInfo: Operation = {
  id: 'get_ledger_info',
  method: 'GET',
  path: '/v1',
  negotiates: true,
  tag: 'General',
  summary: 'Get ledger info',
  description: 'The latest and the oldest version that can be read, with their blocks.',
  parameters: [],
  success: { json: { $ref: '#/components/schemas/LedgerInfo' }, bcs: { $ref: '#/components/schemas/Bytes' } },
  errors: [400, 403, 500, 503],
  handle(request) {
    const format = chooseFormat(request.accept, 'json')
    request.expectOutput(format, 'Get ledger info')
    const { ledger } = request.pin(undefined)
    const body = format === 'json' ? ledgerInfoToJson(ledger) : ledgerInfoToBcs(ledger)
    return { ledger, contentType: CONTENT_TYPE[format], body }
  },
}
