import { balanceHistory } from '@ledger-state/ledger'
import { ADDRESS_PARAMETER, ASSET_TYPE_PARAMETER, parseAccountAddress, parseAssetType } from './parts/account-parts.js'
import { createHistoryOperation } from './parts/history-operation.js'
import type { Operation } from './parts/operation.js'

export const getBalanceHistory: Operation = createHistoryOperation<bigint>({
  id: 'get_account_balance_history',
  path: '/v1/accounts/{address}/balance/{asset_type}/history',
  summary: 'Get history of an account balance',
  description: 'Lists the versions at which a balance changed, coin store and primary store together.',
  subject: [ADDRESS_PARAMETER, ASSET_TYPE_PARAMETER],
  member: 'balance',
  schema: { $ref: '#/components/schemas/U64' },
  csv: { column: 'balance', toText: String },
  parse(request) {
    const owner = parseAccountAddress(request)
    const asset = parseAssetType(request)
    return () => (state, options) => balanceHistory(state, owner, asset, options)
  },
  measure: (balance) => balance,
  print: (balance, { json }) => json.quotedBigint(balance),
})
