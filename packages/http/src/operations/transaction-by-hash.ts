import { ONE_TRANSACTION, ONE_TRANSACTION_PARAMETERS, transactionWithHash } from './parts/one-transaction.js'
import { HASH_PARAMETER, overWholeTransactions } from './parts/transaction-parts.js'

export const getTransactionByHash = overWholeTransactions({
  ...ONE_TRANSACTION,
  id: 'get_transaction_by_hash',
  path: '/v1/transactions/by_hash/{txn_hash}',
  summary: 'Get transaction by hash',
  description: 'The transaction with a hash. This service knows no pending transactions.',
  parameters: [HASH_PARAMETER, ...ONE_TRANSACTION_PARAMETERS],
  looksTwice: true,
  handle: transactionWithHash,
})
