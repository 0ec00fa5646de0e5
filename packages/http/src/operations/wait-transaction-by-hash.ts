import { ONE_TRANSACTION, ONE_TRANSACTION_PARAMETERS, transactionWithHash } from './parts/one-transaction.js'
import { HASH_PARAMETER, overWholeTransactions } from './parts/transaction-parts.js'

export const waitTransactionByHash = overWholeTransactions({
  ...ONE_TRANSACTION,
  id: 'wait_transaction_by_hash',
  path: '/v1/transactions/wait_by_hash/{txn_hash}',
  summary: 'Wait for transaction by hash',
  description: 'Same as by hash: this service knows no pending transactions for which it could wait.',
  parameters: [HASH_PARAMETER, ...ONE_TRANSACTION_PARAMETERS],
  looksTwice: true,
  handle: transactionWithHash,
})
