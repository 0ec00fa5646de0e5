import { chooseFormat } from '../accept.js'
import { ledgerInfoToBcs, ledgerInfoToJson } from '../index-resource.js'
import type { Operation } from '../operation.js'

export const getLedgerInfo: Operation = {
  id: 'get_ledger_info',
  method: 'GET',
  path: '/v1',
  tag: 'General',
  summary: 'Get ledger info',
  description: 'What the ledger holds: the latest and the oldest version that can be read, with their blocks.',
  parameters: [],
  success: { json: { $ref: '#/components/schemas/LedgerInfo' }, bcs: { $ref: '#/components/schemas/Bytes' } },
  errors: [403, 500, 503],
  handle(request) {
    const format = chooseFormat(request.accept, 'json')
    request.expectOutput(format, 'Get ledger info')
    const { ledger } = request.pin(undefined)
    return { ledger, format, body: format === 'json' ? ledgerInfoToJson(ledger) : ledgerInfoToBcs(ledger) }
  },
}
