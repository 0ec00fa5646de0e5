import { accountTransactions } from '@ledger-state/ledger'
import { chooseFormat } from '../protocol/accept.js'
import { ADDRESS_PARAMETER, parseAccountAddress } from './parts/account-parts.js'
import { STATE_ERRORS, STATE_PARAMETERS } from './parts/operation.js'
import { limitParameter, pageLimit } from './parts/paging.js'
import { parseAskedState } from './parts/request-parts.js'
import {
  answerItems,
  DEFAULT_ITEMS,
  MOST_ITEMS,
  overWholeTransactions,
  parseItemLimit,
  parseU64Query,
  START_NUMBER_PARAMETER,
  TRANSACTION_FORMS,
} from './parts/transaction-parts.js'

export const getAccountTransactions = overWholeTransactions({
  id: 'get_account_transactions',
  method: 'GET',
  path: '/v1/accounts/{address}/transactions',
  negotiates: true,
  tag: 'Transactions',
  summary: 'Get account transactions',
  description: 'Lists the transactions that an account sent, by sequence number; by default the newest ones.',
  parameters: [
    ADDRESS_PARAMETER,
    START_NUMBER_PARAMETER,
    ...STATE_PARAMETERS,
    limitParameter(DEFAULT_ITEMS, MOST_ITEMS),
  ],
  success: {
    json: { type: 'array', items: { $ref: '#/components/schemas/Transaction' } },
    bcs: { $ref: '#/components/schemas/Bytes' },
  },
  errors: STATE_ERRORS,
  handle(request) {
    const format = chooseFormat(request.accept, 'json')
    const address = parseAccountAddress(request)
    const start = parseU64Query(request.query, 'start')
    const asked = parseItemLimit(request.query)
    const moment = parseAskedState(request.query)
    request.expectOutput(format, 'Get account transactions')
    const state = request.pin(moment)
    const limit = pageLimit(asked, DEFAULT_ITEMS, MOST_ITEMS)
    return answerItems(request, state, format, accountTransactions(state, address, { start, limit }), TRANSACTION_FORMS)
  },
})
