import { resourceHistory } from '@ledger-state/ledger'
import { printStoredValue } from '../formats/stored-value-formats.js'
import {
  ADDRESS_PARAMETER,
  parseAccountAddress,
  parseResourceType,
  RESOURCE_TYPE_PARAMETER,
} from './parts/account-parts.js'
import { createHistoryOperation } from './parts/history-operation.js'
import type { Operation } from './parts/operation.js'

export const getResourceHistory: Operation = createHistoryOperation({
  id: 'get_account_resource_history',
  path: '/v1/accounts/{address}/resource/{resource_type}/history',
  summary: 'Get history of an account resource',
  description: 'Lists the versions at which a resource changed, with its new value, or null if it was deleted.',
  subject: [ADDRESS_PARAMETER, RESOURCE_TYPE_PARAMETER],
  member: 'value',
  schema: { type: ['object', 'null'] },
  parse(request) {
    const address = parseAccountAddress(request)
    const type = parseResourceType(request)
    return () => (state, options) => resourceHistory(state, address, type, options)
  },
  print: printStoredValue,
})
