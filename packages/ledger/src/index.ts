export type { FunctionAbi, ModuleAbi, StructAbi, TypeParameterAbi } from '@ledger-state/move-module'
export { namedObjectAddress, pairedMetadataAddress, primaryStoreAddress } from '@ledger-state/proof'
export {
  type AccountChange,
  type AccountChangesOptions,
  type ChangedStore,
  listAccountChanges,
  listAccountChangesInSteps,
} from './account-diff/account-changes.js'
export { type Account, type AccountFields, readAccount } from './accounts/account.js'
export { type Asset, parseAsset } from './assets/asset.js'
export { type AsyncLedger, type AsyncLedgerOptions, createAsyncLedger } from './async/async-ledger.js'
export { readBalance } from './balances/read-balance.js'
export { blockTimesOf } from './blocks/block-times.js'
export { blockByHeight, blockByVersion, type LedgerBlock } from './blocks/read-block.js'
export type { CacheUse } from './caches/cache-use.js'
export type { LedgerErrorCode } from './errors.js'
export { balanceHistory } from './histories/balance-history.js'
export { ChangeSampler, type SampledRange } from './histories/change-sampler.js'
export type { Change, ChangeHistoryOptions, History, ReadableChange, UnreadableChange } from './histories/history.js'
export { resourceHistory } from './histories/resource-history.js'
export { rawTableItemHistory, tableItemHistory } from './histories/table-item-history.js'
export { type AssetMetadata, readAssetMetadata } from './holdings/asset-metadata.js'
export { type AssetRecord, readAssetRecord, type SupplyItem } from './holdings/asset-record.js'
export { type HeldAsset, type Holding, readHolding } from './holdings/holding.js'
export {
  type ActivitiesOptions,
  type ActivitiesPage,
  type Activity,
  type ActivityCursor,
  listActivities,
} from './holdings/list-activities.js'
export { type BalancesOptions, listBalances } from './holdings/list-balances.js'
export { listHolders, listLargestHolders, MOST_SORTED_HOLDERS } from './holdings/list-holders.js'
export {
  type ListedObject,
  listOwnedObjects,
  listTokens,
  type OwnedObject,
  readOwnedObject,
} from './holdings/list-objects.js'
export {
  type CollectionData,
  type FungibleMetadata,
  readCollection,
  readFungibleMetadata,
  readGuidCount,
  readToken,
  readTokenProperties,
  type TokenData,
  type TokenProperty,
} from './holdings/object-members.js'
export type { HoldingsPage, HoldingsPageOptions } from './holdings/row-listing.js'
export type { Listing, ListOptions } from './listings/listing.js'
export { type AccountModule, listAccountModules, readAccountModule } from './modules/account-module.js'
export { listResources, listResourcesInSteps } from './resources/list-resources.js'
export { readResource, resourceStateKey } from './resources/read-resource.js'
export type { Resource } from './resources/resource.js'
export { createLedger } from './state/create-ledger.js'
export type { CacheName, Ledger } from './state/ledger.js'
export type { LedgerState } from './state/ledger-state.js'
export { type BaseKind, baseKindOf, storeBaseOf } from './state/store-base.js'
export { readStateValue } from './state-values/read-state-value.js'
export { type FoundTableTypes, findTableTypes, type TableTypesSearch } from './tables/find-table-types.js'
export { type ListedTableItem, listTableItems, type TableTypes } from './tables/list-table-items.js'
export { readRawTableItem, readTableItem, type TableItemRequest, tableItemStateKey } from './tables/table-item.js'
export { formatTimestamp } from './times/format-timestamp.js'
export { firstVersionOf, lastVersionOf, type Moment, momentToTime, parseMoment } from './times/moment.js'
export { parseInterval } from './times/parse-interval.js'
export { parseTimestamp } from './times/parse-timestamp.js'
export { ReadTrace } from './traces/read-trace.js'
export { tracedVersions } from './traces/traced-versions.js'
export {
  type AccountTransactionsOptions,
  accountTransactions,
  type SummariesOptions,
  type TransactionSummary,
  transactionSummaries,
} from './transactions/account-transactions.js'
export type { FieldFilter } from './transactions/event-filter.js'
export {
  type DecodedEvent,
  type EventStream,
  type EventsOptions,
  eventsAtVersion,
  type LedgerEvent,
  readEventHandle,
  StoredEvents,
  streamEvents,
} from './transactions/events.js'
export { findTransaction } from './transactions/find-transaction.js'
export {
  affectingTransactions,
  eventsOfType,
  expectAllEvents,
  type FoundCursor,
  type FoundOptions,
  type FoundPage,
} from './transactions/found-versions.js'
export type { FoundProof, NoProof } from './transactions/info-proof.js'
export {
  hasWholeTransactions,
  type LedgerTransaction,
  proveStateOf,
  wholeTransactionAt,
} from './transactions/ledger-transaction.js'
export { readField } from './transactions/read-field.js'
export {
  hasTransactions,
  transactionAt,
  transactionFactsAt,
  transactionsSince,
  wholeTransactionsSince,
} from './transactions/transaction-at.js'
export { listTypeUses, listTypeUsesInSteps, type TypeUse, type TypeUses } from './type-usage/list-type-uses.js'
export type { StructName } from './type-usage/tag-names.js'
export type { StoredValue } from './types/stored-value.js'
export { isUnreadable } from './types/unreadable.js'
export { mostResults } from './views/most-results.js'
export type { ViewSample } from './views/sample-points.js'
export { callView, type StartViewOptions, startView } from './views/start-view.js'
export type { StartedView, ViewReport } from './views/started-view.js'
export { type ViewAnswer, type ViewHistory, type ViewHistoryOptions, viewHistory } from './views/view-history.js'
export type { ViewRequest } from './views/view-request.js'
export { uncachedState, type ViewedState } from './views/viewed-state.js'
export { ValuePrinter } from './writes/value-printer.js'
export { resourceWriteToJson, type WrittenValue, writeToJson } from './writes/write-to-json.js'
