import { resourceHistory } from '@ledger-state/ledger'
import { printStoredValue } from '../formats/stored-value-formats.js'
import { ADDRESS_PARAMETER, parseAccountAddress, parseResourceType } from './parts/account-parts.js'
import { createHistoryOperation } from './parts/history-operation.js'
import type { Operation } from './parts/operation.js'

export const getResourceHistory: Operation = createHistoryOperation({
  id: 'get_account_resource_history',
  path: '/v1/accounts/{address}/resource/{resource_type}/history',
  summary: 'Get history of an account resource',
  description: 'Lists the versions at which a resource changed, with its new value, or null if it was deleted.',
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
    return () => (state, options) => resourceHistory(state, address, type, options)
  },
  print: printStoredValue,
})
