import { balanceHistory } from '@ledger-state/ledger'
import { ADDRESS_PARAMETER, parseAccountAddress } from './parts/account-parts.js'
import { createHistoryOperation } from './parts/history-operation.js'
import type { Operation } from './parts/operation.js'
import { parseAssetParameter } from './parts/request-parts.js'

export const getBalanceHistory: Operation = createHistoryOperation<bigint>({
  id: 'get_account_balance_history',
  path: '/v1/accounts/{address}/balance/{asset_type}/history',
  summary: 'Get history of an account balance',
  description: 'Lists the versions at which a balance changed, coin store and primary store together.',
  subject: [
    ADDRESS_PARAMETER,
    {
      name: 'asset_type',
      in: 'path',
      description: 'A coin type, or the metadata address of a fungible asset.',
      schema: { $ref: '#/components/schemas/AssetType' },
    },
  ],
  member: 'balance',
  schema: { $ref: '#/components/schemas/U64' },
  csv: { column: 'balance', toText: String },
  parse(request) {
    const owner = parseAccountAddress(request)
    const asset = parseAssetParameter(request, request.params.asset_type!)
    return () => (state, options) => balanceHistory(state, owner, asset, options)
  },
  measure: (balance) => balance,
  print: (balance, { json }) => json.quotedBigint(balance),
})
