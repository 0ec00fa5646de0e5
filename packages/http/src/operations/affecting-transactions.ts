import { affectingTransactions } from '@ledger-state/ledger'
import { ADDRESS_PARAMETER, parseAccountAddress } from './parts/account-parts.js'
import { answerFound, FOUND_PARAMETERS } from './parts/found-page.js'
import { STATE_ERRORS } from './parts/operation.js'
import { overWholeTransactions, TRANSACTION_FORMS } from './parts/transaction-parts.js'

export const getAffectingTransactions = overWholeTransactions({
  id: 'get_affecting_transactions',
  method: 'GET',
  path: '/v1/accounts/{address}/affecting_transactions',
  negotiates: true,
  takesTurns: true,
  tag: 'Transactions',
  summary: 'Get transactions that changed an account',
  description:
    'Lists the transactions that wrote a resource, a resource group or a module at an address, whoever sent them, in pages. An object is an address, too. Items of tables belong to no address.',
  parameters: [ADDRESS_PARAMETER, ...FOUND_PARAMETERS],
  success: {
    json: { type: 'array', items: { $ref: '#/components/schemas/Transaction' } },
    bcs: { $ref: '#/components/schemas/Bytes' },
  },
  isPaged: true,
  tellsCompleteness: true,
  errors: STATE_ERRORS,
  handle(request) {
    const address = parseAccountAddress(request)
    const what = 'Get transactions that changed an account'
    return answerFound(request, what, (state, page) => affectingTransactions(state, address, page), TRANSACTION_FORMS)
  },
})
