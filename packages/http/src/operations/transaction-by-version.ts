import { versionPruned } from '@ledger-state/engine'
import { transactionNotFound } from '../errors.js'
import { chooseFormat } from '../protocol/accept.js'
import { expectLastSegment } from './parts/account-parts.js'
import { versionInPath } from './parts/named-place.js'
import { ONE_TRANSACTION, ONE_TRANSACTION_PARAMETERS, oneTransaction } from './parts/one-transaction.js'
import { parseAskedState } from './parts/request-parts.js'
import { parseAskedProof } from './parts/state-read.js'
import { expectKept, overWholeTransactions, parseU64Path } from './parts/transaction-parts.js'

export const getTransactionByVersion = overWholeTransactions({
  ...ONE_TRANSACTION,
  id: 'get_transaction_by_version',
  path: '/v1/transactions/by_version/{txn_version}',
  summary: 'Get transaction by version',
  description: 'The transaction that made a version.',
  parameters: [
    {
      name: 'txn_version',
      in: 'path',
      description: 'The version.',
      schema: { $ref: '#/components/schemas/U64' },
    },
    ...ONE_TRANSACTION_PARAMETERS,
  ],
  namedPlace: versionInPath('txn_version'),
  handle(request) {
    const format = chooseFormat(request.accept, 'json')
    const version = parseU64Path('txn_version', expectLastSegment(request.params.txn_version))
    const asked = parseAskedState(request.query)
    const proof = parseAskedProof(request)
    request.expectOutput(format, 'Get transactions by version')
    const state = request.pin(asked)
    if (version > state.version) throw transactionNotFound(version)
    const { oldestVersion } = state.transactions
    if (version < oldestVersion) throw versionPruned(version, oldestVersion)
    return oneTransaction(request, state, format, proof, expectKept(state, version))
  },
})
