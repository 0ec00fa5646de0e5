import type { JsonObject } from '@ledger-state/bcs'
import { type LedgerState, readBalance } from '@ledger-state/ledger'
import { BALANCE_SCHEMA } from './account-balance.js'
import { createBatchOperation } from './parts/batch-operation.js'
import type { Operation, OperationRequest } from './parts/operation.js'
import { parseAddressMember, parseAssetMember } from './parts/request-parts.js'

/** Creates the operation that reads many balances. */
export function createBalancesBatch(archivalEndpoint: string | undefined): Operation {
  return createBatchOperation(
    {
      id: 'get_balances_batch',
      path: '/v1/balances:batch',
      tag: 'Accounts',
      summary: 'Get many balances',
      element: 'BalanceElement',
      result: { value: BALANCE_SCHEMA },
      read: readBalanceElement,
    },
    archivalEndpoint,
  )
}

function readBalanceElement(request: OperationRequest, state: LedgerState, element: JsonObject): string {
  const owner = parseAddressMember(element, 'address', 'BalanceElement')
  return `"value":${readBalance(state, owner, parseAssetMember(request, element, 'asset_type', 'BalanceElement'))}`
}
