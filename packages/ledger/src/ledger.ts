import type { LedgerSummary } from '@ledger-state/engine'
import type { KeptTransaction, SliceLeftOut } from '@ledger-state/records'
import type { ListMembersOptions, MemberListing, SliceRecord } from '@ledger-state/slices'
import type { StateValue, StructTag, TypeTag } from '@ledger-state/type-tag'
import type { AccountChange, AccountChangesOptions } from './account-diff/account-changes.js'
import type { Account } from './accounts/account.js'
import type { Asset } from './balances/asset.js'
import type { LedgerBlock } from './blocks/read-block.js'
import type { CacheUse } from './caches/cache-use.js'
import type { Change, ChangeHistoryOptions, History } from './histories/history.js'
import type { Listing, ListOptions } from './listings/listing.js'
import type { AccountModule } from './modules/account-module.js'
import type { Resource } from './resources/resource.js'
import type { TableTypesSearch } from './tables/find-table-types.js'
import type { ListedTableItem, TableTypes } from './tables/list-table-items.js'
import type { TableItemRequest } from './tables/table-item.js'
import type { ReadTrace } from './traces/read-trace.js'
import type { TypeUses } from './type-usage/list-type-uses.js'
import type { StructName } from './type-usage/tag-names.js'
import type { StoredValue } from './types/stored-value.js'
import type { StartedView } from './views/started-view.js'
import type { ViewHistory, ViewHistoryOptions } from './views/view-history.js'
import type { ViewRequest } from './views/view-request.js'
import type { StartViewOptions } from './views/view-runner.js'

/**
 * The reads at one version. All of them, and `ledger`, refer to the same state of the ledger. Addresses and handles are
 * 32 bytes. Every read throws `version_pruned` once the pruner has passed the version.
 */
export interface LedgerState {
  readonly version: bigint
  readonly ledger: LedgerSummary
  /** Whether the store has the transactions of some versions of the window, up to the version of the state. */
  readonly hasTransactions: boolean
  /**
   * First version from which on every version that wrote state came with its transaction; undefined if the newest did
   * not.
   */
  readonly transactionsSince: bigint | undefined
  /**
   * The transaction that made a version, which must not be above the version of the state. Undefined if the store does
   * not have it, if the version wrote nothing, and below the window.
   * @throws `version_truncated`
   */
  transactionAt(version: bigint): KeptTransaction | undefined
  /**
   * Reads a table item. Resolves the types of the key and, for JSON, of the value, each within the budget of
   * `layoutOf`. The JSON of the item throws `value_type_mismatch` if the value type cannot be resolved or the bytes do
   * not fit it.
   * @throws `invalid_value` if the key does not fit its type or the type cannot be resolved; `table_item_not_found`
   */
  readTableItem(request: TableItemRequest): StoredValue
  /**
   * The state key of a table item, in database form.
   * @throws `invalid_value` as `readTableItem`
   */
  tableItemStateKey(request: Pick<TableItemRequest, 'handle' | 'keyType' | 'key'>): Uint8Array
  /** The state key in database form of a resource, or of its group if its module says that it is in one. */
  resourceStateKey(address: Uint8Array, tag: StructTag): Uint8Array
  /**
   * Reads a table item by the BCS of its key.
   * @throws `table_item_not_found`
   */
  readRawTableItem(handle: Uint8Array, key: Uint8Array): Uint8Array
  /**
   * The items of a table in the order of the bytes of their keys. The JSON of a key or value throws
   * `value_type_mismatch` if its type cannot be resolved or the bytes do not fit it.
   */
  listTableItems(handle: Uint8Array, types?: TableTypes, options?: ListOptions): Listing<ListedTableItem>
  /**
   * Searches account `holder` for the types of a table: in its resources, then in the items of the tables that they
   * hold, in the tables of those items, and so on. The result is undefined if the handle is not found within 5,000
   * state keys and 64 MiB.
   * @throws (the iteration) `stored_data_invalid` if a group cannot be read
   */
  findTableTypes(handle: Uint8Array, holder: Uint8Array): TableTypesSearch
  /**
   * Reads the balance of an account.
   * @throws `invalid_bcs`, `balance_overflow`
   */
  readBalance(owner: Uint8Array, asset: Asset): bigint
  /**
   * Reads the value of any state key in database form, and its metadata.
   * @throws `state_value_not_found`
   */
  readStateValue(key: Uint8Array): StateValue
  /**
   * Starts a view function, which runs step by step when the caller lets it.
   * @throws `view_argument_invalid` for JSON arguments that do not fit
   */
  startView(request: ViewRequest, options?: StartViewOptions): StartedView
  /**
   * Versions that wrote the values of a trace's keys, by the text of the key in hex; undefined if a key has no value in
   * this state. A view answers the same until one of these keys is written again.
   */
  tracedVersions(trace: ReadTrace): ReadonlyMap<string, bigint | undefined>
  /**
   * Runs a view function to its end, and returns its results.
   * @throws as `startView` and its `advance`
   */
  callView(request: ViewRequest, options?: Pick<StartViewOptions, 'budget'>): readonly StoredValue[]
  /**
   * The versions at which the answer of a view function changed, up to the version of the state. Each run has the whole
   * budget, so an entry is the result of `callView` at each version until the next entry.
   */
  viewHistory(request: ViewRequest, options?: ViewHistoryOptions): ViewHistory
  /**
   * Reads an account.
   * @throws `account_not_found`
   */
  readAccount(address: Uint8Array): Account
  /**
   * The resources of an account, in the order of their state keys' bytes. A group is replaced by its members.
   * @throws (the iteration) `stored_data_invalid` if a group cannot be read
   */
  listResources(address: Uint8Array, options?: ListOptions): Listing<Resource>
  /**
   * Reads a resource, from a group if its module says that it is in one.
   * @throws `resource_not_found`; `stored_data_invalid` if the group cannot be read
   */
  readResource(address: Uint8Array, tag: StructTag): Resource
  /** The modules of an account, in the order of their state keys' bytes: shorter names first. */
  listModules(address: Uint8Array, options?: ListOptions): Listing<AccountModule>
  /**
   * Reads a module.
   * @throws `account_module_not_found`
   */
  readModule(address: Uint8Array, name: string): AccountModule
  /**
   * Changes of an account since version `from`, in the order of its state keys' bytes.
   * @throws `version_not_found` and `version_pruned` for `from`; (the iteration) `stored_data_invalid` if a group
   * cannot be read
   */
  accountChanges(address: Uint8Array, from: bigint, options?: AccountChangesOptions): Listing<AccountChange>
  /**
   * Searches resources and modules of all accounts for uses of a type with any type arguments, in the order of their
   * state keys' bytes. There is no index: a page looks at some 1,000 state keys, so it may be empty and yet have a
   * cursor.
   */
  listTypeUses(type: StructName, options?: ListOptions): TypeUses
  /** The store's record of its slice; undefined if it keeps everything. */
  readonly slice: SliceRecord | undefined
  /**
   * Counts of what the slice left out, as of the last commit that ended at or before the version; undefined if nothing
   * was counted.
   */
  readonly leftOut: SliceLeftOut | undefined
  /** Lists the members of the store's slice, accounts before tables. A page may be empty and yet have a cursor. */
  listMembers(options?: ListMembersOptions): MemberListing
  /**
   * The versions at which a balance changed, up to the version of the state.
   * @throws (the iteration) as `readBalance`
   */
  balanceHistory(owner: Uint8Array, asset: Asset, options?: ChangeHistoryOptions): History<Change<bigint>>
  /**
   * The versions at which a resource changed, up to the version of the state; its value is undefined after a deletion.
   * Its module, as of the version of the state, says whether it is stored in a group. Each value is decoded with the
   * layouts of its own version.
   * @throws (the iteration) `stored_data_invalid` if a group cannot be read
   */
  resourceHistory(
    address: Uint8Array,
    tag: StructTag,
    options?: ChangeHistoryOptions,
  ): History<Change<Resource | undefined>>
  /**
   * The versions at which a table item changed, up to the version of the state; its value is undefined after a
   * deletion. Each value is decoded with the layouts of its own version.
   * @throws `invalid_value` as `readTableItem`
   */
  tableItemHistory(request: TableItemRequest, options?: ChangeHistoryOptions): History<Change<StoredValue | undefined>>
  /** Same as `tableItemHistory`, by the BCS of the key, with the stored bytes. */
  rawTableItemHistory(
    handle: Uint8Array,
    key: Uint8Array,
    options?: ChangeHistoryOptions,
  ): History<Change<Uint8Array | undefined>>
  /**
   * The block of `ledger` with a height, whatever version is read.
   * @throws `block_not_found`, `block_pruned`
   */
  blockByHeight(height: bigint): LedgerBlock
  /**
   * The block of `ledger` with a version.
   * @throws `version_not_found`, `version_pruned`
   */
  blockByVersion(version: bigint): LedgerBlock
}

/** Reads of a ledger by meaning. `at` pins a version; what it resolved is kept for the next. */
export interface Ledger {
  /** Discriminant: reads of an `AsyncLedger` return promises, reads of this ledger are synchronous. */
  readonly kind: 'sync'
  /** The newest ledger; undefined while the store is empty. */
  readonly info: LedgerSummary | undefined
  /**
   * Parses as `parseTypeTag` does, and remembers the result. Reads find the codec of a remembered tag without printing
   * the tag.
   * @throws `invalid_type_tag`
   */
  parseType(text: string): TypeTag
  /**
   * Parses as `parseAsset` does, and remembers the result. Balances of a remembered asset are read without deriving its
   * keys again.
   * @throws `invalid_type_tag`
   */
  parseAsset(text: string): Asset
  /**
   * Pins the ledger at a version, by default the latest.
   * @throws `no_ledger`, `version_not_found`, `version_pruned`; reads throw the last, too, once the pruner has passed
   * the version
   */
  at(version?: bigint): LedgerState
  /**
   * The last version of the newest block at or before a time, in microseconds since 1970. For a time between the newest
   * block and now, the latest version.
   * @throws `no_ledger`; `version_pruned` before the oldest block; `version_not_found` after `nowUsec`, by default the
   * time of the system
   */
  versionAtTime(timestampUsec: bigint, nowUsec?: bigint): bigint
  /** Use of the caches of this ledger, by their names. */
  readonly caches: Readonly<Record<CacheName, CacheUse>>
}

/** Names of caches: of types' codecs, of modules' definitions, and of parsed texts of types and assets. */
export type CacheName = 'types' | 'modules' | 'view_modules' | 'type_texts' | 'asset_texts'
