import { larger } from '@ledger-state/core'
import { versionPruned } from '@ledger-state/engine'
import type { LedgerState } from '@ledger-state/ledger'
import { chooseFormat } from '../protocol/accept.js'
import { versionInQuery } from './parts/named-place.js'
import { STATE_ERRORS, STATE_PARAMETERS } from './parts/operation.js'
import { limitParameter, pageLimit } from './parts/paging.js'
import { parseAskedState } from './parts/request-parts.js'
import {
  answerItems,
  DEFAULT_ITEMS,
  expectStart,
  lastOfPage,
  MOST_ITEMS,
  overWholeTransactions,
  parseItemLimit,
  parseU64Query,
  START_VERSION_PARAMETER,
  TRANSACTION_FORMS,
  transactionsBetween,
} from './parts/transaction-parts.js'

export const getTransactions = overWholeTransactions({
  id: 'get_transactions',
  method: 'GET',
  path: '/v1/transactions',
  negotiates: true,
  tag: 'Transactions',
  summary: 'Get transactions',
  description: 'Lists transactions by version, in order; by default the newest ones.',
  parameters: [START_VERSION_PARAMETER, ...STATE_PARAMETERS, limitParameter(DEFAULT_ITEMS, MOST_ITEMS)],
  success: {
    json: { type: 'array', items: { $ref: '#/components/schemas/Transaction' } },
    bcs: { $ref: '#/components/schemas/Bytes' },
  },
  errors: STATE_ERRORS,
  namedPlace: versionInQuery('start'),
  handle(request) {
    const format = chooseFormat(request.accept, 'json')
    const start = parseU64Query(request.query, 'start')
    const asked = parseItemLimit(request.query)
    const moment = parseAskedState(request.query)
    request.expectOutput(format, 'Get transactions')
    const state = request.pin(moment)
    const limit = pageLimit(asked, DEFAULT_ITEMS, MOST_ITEMS)
    if (start !== undefined) expectStart(state, start)
    const { oldestVersion } = state.transactions
    if (start !== undefined && start < oldestVersion) throw versionPruned(start, oldestVersion)
    const first = start ?? newestPage(state, BigInt(limit))
    const items = transactionsBetween(state, first, lastOfPage(first, limit, state.version))
    return answerItems(request, state, format, items, TRANSACTION_FORMS)
  },
})

/** First version of the last page. */
function newestPage({ version, transactions }: LedgerState, limit: bigint): bigint {
  const first = version - limit + 1n
  return larger(first, transactions.completeSince)
}
