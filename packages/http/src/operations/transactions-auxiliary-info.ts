import { ByteWriter } from '@ledger-state/core'
import { versionPruned } from '@ledger-state/engine'
import type { LedgerTransaction } from '@ledger-state/ledger'
import { invalidRequest } from '../errors.js'
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
  parseU64Part,
  shortForms,
  textOfQuery,
  transactionsBetween,
} from './parts/transaction-parts.js'

const FORMS = shortForms<LedgerTransaction>(
  ({ indexInBlock }) => `{"transaction_index":${indexInBlock ?? null}}`,
  ({ indexInBlock }) => {
    return indexInBlock === undefined ? Uint8Array.of(0) : new ByteWriter().u8(1).u32(indexInBlock).toBytes()
  },
)

export const getTransactionsAuxiliaryInfo = overWholeTransactions({
  id: 'get_transactions_auxiliary_info',
  method: 'GET',
  path: '/v1/transactions/auxiliary_info',
  negotiates: true,
  tag: 'Transactions',
  summary: 'Get auxiliary info of transactions',
  description: 'Lists the index of each transaction in its proposed block, or null if the source did not have it.',
  parameters: [
    {
      name: 'start_version',
      in: 'query',
      description: 'The first version; it must be given.',
      schema: { $ref: '#/components/schemas/U64' },
    },
    ...STATE_PARAMETERS,
    limitParameter(DEFAULT_ITEMS, MOST_ITEMS),
  ],
  success: {
    json: {
      type: 'array',
      items: {
        type: 'object',
        required: ['transaction_index'],
        properties: { transaction_index: { type: ['integer', 'null'], minimum: 0 } },
      },
    },
    bcs: { $ref: '#/components/schemas/Bytes' },
  },
  errors: STATE_ERRORS,
  namedPlace: versionInQuery('start_version'),
  handle(request) {
    const format = chooseFormat(request.accept, 'json')
    const text = textOfQuery(request.query, 'start_version')
    if (text === undefined) throw invalidRequest.startVersionMissing()
    const start = parseU64Part('parameter `start_version`', text)
    const asked = parseItemLimit(request.query)
    const moment = parseAskedState(request.query)
    request.expectOutput(format, 'Get transactions auxiliary info')
    const state = request.pin(moment)
    const limit = pageLimit(asked, DEFAULT_ITEMS, MOST_ITEMS)
    expectStart(state, start)
    const { oldestVersion } = state.transactions
    if (start < oldestVersion) throw versionPruned(start, oldestVersion)
    const items = transactionsBetween(state, start, lastOfPage(start, limit, state.version))
    return answerItems(request, state, format, items, FORMS)
  },
})
