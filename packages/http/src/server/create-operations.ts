import { DOCUMENT_PATHS } from '../document/document-routes.js'
import { operationDisabled } from '../errors.js'
import { getAccount } from '../operations/account.js'
import { getAccountActivities } from '../operations/account-activities.js'
import { getAccountBalance } from '../operations/account-balance.js'
import { getAccountBalances } from '../operations/account-balances.js'
import { getAccountChanges } from '../operations/account-changes.js'
import { getAccountModule } from '../operations/account-module.js'
import { getAccountModules } from '../operations/account-modules.js'
import { getAccountObjects } from '../operations/account-objects.js'
import { getAccountResource } from '../operations/account-resource.js'
import { getAccountResources } from '../operations/account-resources.js'
import { getAccountTransactions } from '../operations/account-transactions.js'
import { getAffectingTransactions } from '../operations/affecting-transactions.js'
import { getAssetHolders } from '../operations/asset-holders.js'
import { getBalanceHistory } from '../operations/balance-history.js'
import { createBalancesBatch } from '../operations/balances-batch.js'
import { createBatch } from '../operations/batch.js'
import { getBlockByHeight } from '../operations/block-by-height.js'
import { getBlockByVersion } from '../operations/block-by-version.js'
import { getCollectionTokens } from '../operations/collection-tokens.js'
import { getEpochEndings } from '../operations/epoch-endings.js'
import { getEventsByCreationNumber } from '../operations/events-by-creation-number.js'
import { getEventsByEventHandle } from '../operations/events-by-event-handle.js'
import { getEventsByType } from '../operations/events-by-type.js'
import { createGasPriceOperation } from '../operations/gas-price.js'
import { createGraphqlOperation } from '../operations/graphql.js'
import { createHealthOperation } from '../operations/health.js'
import { getLedgerInfo } from '../operations/ledger-info.js'
import { getNodeInfo } from '../operations/node-info.js'
import type { Operation, Route } from '../operations/parts/operation.js'
import { UNSERVED_ROUTES } from '../operations/parts/unserved.js'
import { getRawStateValue } from '../operations/raw-state-value.js'
import { getRawTableItem } from '../operations/raw-table-item.js'
import { getRawTableItemHistory } from '../operations/raw-table-item-history.js'
import { getResourceHistory } from '../operations/resource-history.js'
import { createResourcesBatch } from '../operations/resources-batch.js'
import { getSlice } from '../operations/slice.js'
import { getStream } from '../operations/stream.js'
import { getTableItem } from '../operations/table-item.js'
import { getTableItemHistory } from '../operations/table-item-history.js'
import { getTableItems } from '../operations/table-items.js'
import { createTableItemsBatch } from '../operations/table-items-batch.js'
import { getTransactionByHash } from '../operations/transaction-by-hash.js'
import { getTransactionByVersion } from '../operations/transaction-by-version.js'
import { getAccountTransactionSummaries } from '../operations/transaction-summaries.js'
import { getTransactions } from '../operations/transactions.js'
import { getTransactionsAuxiliaryInfo } from '../operations/transactions-auxiliary-info.js'
import { createTrustOperation, type ReadTrust } from '../operations/trust.js'
import { getTypeUses } from '../operations/type-uses.js'
import { callView } from '../operations/view.js'
import { getViewHistory } from '../operations/view-history.js'
import { waitTransactionByHash } from '../operations/wait-transaction-by-hash.js'
import { createRouter } from './router.js'

/** Creates all operations, in the order of the OpenAPI document. */
export function createOperations(
  headerWord: string,
  archivalEndpoint: string | undefined,
  leastGasEstimate: bigint,
  readTrust: ReadTrust | undefined,
  network: string | undefined,
): Operation[] {
  const operations: Operation[] = [
    getTableItem,
    getRawTableItem,
    getAccountBalance,
    getAccount,
    getAccountResources,
    getAccountResource,
    getAccountModules,
    getAccountModule,
    getBlockByHeight,
    getBlockByVersion,
    getTransactions,
    getTransactionByVersion,
    getTransactionByHash,
    waitTransactionByHash,
    getTransactionsAuxiliaryInfo,
    getAccountTransactions,
    getAccountTransactionSummaries,
    getEventsByCreationNumber,
    getEventsByEventHandle,
    getAffectingTransactions,
    getEventsByType,
    callView,
    getRawStateValue,
    getTableItems,
    getBalanceHistory,
    getResourceHistory,
    getTableItemHistory,
    getRawTableItemHistory,
    getViewHistory,
    getAccountChanges,
    getStream,
    getTypeUses,
    getAccountBalances,
    getAccountObjects,
    getAccountActivities,
    getAssetHolders,
    getCollectionTokens,
    createGraphqlOperation(archivalEndpoint),
    getLedgerInfo,
    getNodeInfo,
    createTrustOperation(readTrust, network),
    getSlice,
    getEpochEndings,
    createGasPriceOperation(leastGasEstimate),
    createHealthOperation(headerWord),
  ]
  const batches: Operation[] = [
    createTableItemsBatch(archivalEndpoint),
    createBalancesBatch(archivalEndpoint),
    createResourcesBatch(archivalEndpoint),
    createBatch(archivalEndpoint, (method, target) => router.find(method, target)),
  ]
  const refused = [
    ...batches.map(({ method, path }) => refusedInBatch(method, path)),
    ...Object.values(DOCUMENT_PATHS).map((path) => refusedInBatch('GET', path)),
  ]
  const router = createRouter([...operations, ...UNSERVED_ROUTES, ...refused])
  return [...operations, ...batches]
}

/** Route that says why a path, which is served, cannot be an element of a batch. */
function refusedInBatch(method: Route['method'], path: string): Route {
  return {
    method,
    path,
    negotiates: false,
    handle() {
      throw operationDisabled.pathInBatch(path)
    },
  }
}
