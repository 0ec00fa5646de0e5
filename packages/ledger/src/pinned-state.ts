import type { LedgerSummary, StateReader, StateView } from '@ledger-state/engine'
import { annotationToNote, type KeptTransaction, type SliceLeftOut, TRANSACTIONS_KEY } from '@ledger-state/records'
import {
  type ListMembersOptions,
  listMembers,
  type MemberListing,
  readerOfOwned,
  readLeftOut,
  readSlice,
  type SliceRecord,
} from '@ledger-state/slices'
import { resourceGroupKey, resourceKey, type StateValue, type StructTag, tableItemKey } from '@ledger-state/type-tag'
import { type AccountChange, type AccountChangesOptions, listAccountChanges } from './account-diff/account-changes.js'
import { type Account, readAccount } from './accounts/account.js'
import type { Asset } from './balances/asset.js'
import type { BalanceReader } from './balances/balance-reader.js'
import { blockByHeight, blockByVersion, type LedgerBlock } from './blocks/read-block.js'
import { stateValueNotFound, storedResourceUnreadable } from './errors.js'
import { type Change, type ChangeHistoryOptions, createHistory, type History } from './histories/history.js'
import { observeBalance, observeKey, observeResource } from './histories/observations.js'
import type { LedgerState } from './ledger.js'
import type { Listing, ListOptions } from './listings/listing.js'
import { type AccountModule, listAccountModules, readAccountModule } from './modules/account-module.js'
import type { ModuleCache } from './modules/module-cache.js'
import { listResources } from './resources/list-resources.js'
import { readResource, resourceGroupOf } from './resources/read-resource.js'
import { createResource, type Resource } from './resources/resource.js'
import { findTableTypes, type TableTypesSearch } from './tables/find-table-types.js'
import { type ListedTableItem, listTableItems, type TableTypes } from './tables/list-table-items.js'
import {
  createTableValue,
  encodeTableKey,
  readRawTableItem,
  readTableItem,
  type TableItemRequest,
} from './tables/table-item.js'
import type { ReadTrace } from './traces/read-trace.js'
import { KeptTransactions } from './transactions/kept-transactions.js'
import { listTypeUses, type TypeUses } from './type-usage/list-type-uses.js'
import type { StructName } from './type-usage/tag-names.js'
import type { StoredValue } from './types/stored-value.js'
import type { TypeResolver } from './types/type-resolver.js'
import type { StartedView } from './views/started-view.js'
import { createViewHistory, type ViewHistory, type ViewHistoryOptions } from './views/view-history.js'
import type { ViewRequest } from './views/view-request.js'
import type { StartViewOptions, ViewRunner } from './views/view-runner.js'

/** Caches and readers that all reads of a ledger share. */
export interface SharedReaders {
  readonly modules: ModuleCache
  readonly types: TypeResolver
  readonly balances: BalanceReader
  readonly views: ViewRunner
}

/** The reads at one version, over the view of it. */
export class PinnedState implements LedgerState {
  readonly version: bigint
  readonly ledger: LedgerSummary
  readonly view: StateView
  readonly #reader: StateReader
  readonly #readers: SharedReaders
  readonly #transactions: KeptTransactions

  constructor(reader: StateReader, view: StateView, readers: SharedReaders) {
    this.#reader = reader
    this.#transactions = new KeptTransactions(reader, view)
    this.version = view.version
    this.ledger = view.ledger
    this.view = view
    this.#readers = readers
  }

  get hasTransactions(): boolean {
    return this.#transactions.areThere
  }

  get transactionsSince(): bigint | undefined {
    return this.view.getEntry(TRANSACTIONS_KEY)?.version
  }

  transactionAt(version: bigint): KeptTransaction | undefined {
    return this.#transactions.at(version)
  }

  readTableItem(request: TableItemRequest): StoredValue {
    return readTableItem(this.view, this.#readers.types, request)
  }

  tableItemStateKey({ handle, keyType, key }: Pick<TableItemRequest, 'handle' | 'keyType' | 'key'>): Uint8Array {
    return tableItemKey(handle, encodeTableKey(this.view, this.#readers.types, keyType, key))
  }

  resourceStateKey(address: Uint8Array, tag: StructTag): Uint8Array {
    const group = resourceGroupOf(this.view, this.#readers.modules, tag)
    return group ? resourceGroupKey(address, group) : resourceKey(address, tag)
  }

  readRawTableItem(handle: Uint8Array, key: Uint8Array): Uint8Array {
    return readRawTableItem(this.view, handle, key)
  }

  listTableItems(handle: Uint8Array, types: TableTypes = {}, options: ListOptions = {}): Listing<ListedTableItem> {
    return listTableItems(this.view, this.#readers.types, handle, types, options)
  }

  findTableTypes(handle: Uint8Array, holder: Uint8Array): TableTypesSearch {
    const { types, modules } = this.#readers
    return findTableTypes(this.view, types, modules, handle, holder)
  }

  readBalance(owner: Uint8Array, asset: Asset): bigint {
    return this.#readers.balances.read(this.view, owner, asset)
  }

  readStateValue(key: Uint8Array): StateValue {
    const entry = this.view.getEntry(key)
    if (!entry) throw stateValueNotFound(key, this.version)
    return { value: entry.value, metadata: annotationToNote(entry.annotation).metadata }
  }

  startView(request: ViewRequest, options: StartViewOptions = {}): StartedView {
    const { views, types } = this.#readers
    return views.start(this.view, types, request, options)
  }

  callView(request: ViewRequest, { budget }: Pick<StartViewOptions, 'budget'> = {}): readonly StoredValue[] {
    const started = this.startView(request, { budget })
    for (;;) {
      const results = started.advance()
      if (results) return results
    }
  }

  readAccount(address: Uint8Array): Account {
    return readAccount(this.view, address)
  }

  listResources(address: Uint8Array, options?: ListOptions): Listing<Resource> {
    return listResources(this.view, this.#readers.types, address, options)
  }

  readResource(address: Uint8Array, tag: StructTag): Resource {
    const { types, modules } = this.#readers
    return readResource(this.view, types, modules, address, tag)
  }

  listModules(address: Uint8Array, options?: ListOptions): Listing<AccountModule> {
    return listAccountModules(this.view, address, options)
  }

  readModule(address: Uint8Array, name: string): AccountModule {
    return readAccountModule(this.view, address, name)
  }

  accountChanges(address: Uint8Array, from: bigint, options: AccountChangesOptions = {}): Listing<AccountChange> {
    return listAccountChanges(this.#reader.at(from), this.view, this.#readers.types, address, options)
  }

  listTypeUses(type: StructName, options: ListOptions = {}): TypeUses {
    return listTypeUses(this.view, type, options)
  }

  get slice(): SliceRecord | undefined {
    return readSlice(this.view)
  }

  get leftOut(): SliceLeftOut | undefined {
    return readLeftOut(this.view)
  }

  listMembers(options: ListMembersOptions = {}): MemberListing {
    return listMembers(this.view, options)
  }

  balanceHistory(owner: Uint8Array, asset: Asset, options: ChangeHistoryOptions = {}): History<Change<bigint>> {
    const observation = observeBalance(owner, this.#readers.balances.keysOf(owner, asset))
    return createHistory(readerOfOwned(this.#reader, owner), this, observation, options, (balance) => balance)
  }

  resourceHistory(
    address: Uint8Array,
    tag: StructTag,
    options: ChangeHistoryOptions = {},
  ): History<Change<Resource | undefined>> {
    const { types, modules } = this.#readers
    const observation = observeResource(address, tag, resourceGroupOf(this.view, modules, tag))
    return createHistory(this.#reader, this, observation, options, (bytes, version) => {
      if (!bytes) return undefined
      return createResource(this.#viewOfChange(version), types, tag, bytes, storedResourceUnreadable)
    })
  }

  tableItemHistory(
    request: TableItemRequest,
    options: ChangeHistoryOptions = {},
  ): History<Change<StoredValue | undefined>> {
    const { types } = this.#readers
    const { handle, keyType, valueType, key } = request
    const observation = observeKey(tableItemKey(handle, encodeTableKey(this.view, types, keyType, key)))
    return createHistory(this.#reader, this, observation, options, (bytes, version) => {
      return bytes ? createTableValue(this.#viewOfChange(version), types, valueType, bytes) : undefined
    })
  }

  rawTableItemHistory(
    handle: Uint8Array,
    key: Uint8Array,
    options: ChangeHistoryOptions = {},
  ): History<Change<Uint8Array | undefined>> {
    const observation = observeKey(tableItemKey(handle, key))
    return createHistory(this.#reader, this, observation, options, (bytes) => bytes ?? undefined)
  }

  tracedVersions(trace: ReadTrace): ReadonlyMap<string, bigint | undefined> {
    return new Map(Array.from(trace.keys, ([text, key]) => [text, this.view.getEntry(key)?.version]))
  }

  viewHistory(request: ViewRequest, options: ViewHistoryOptions = {}): ViewHistory {
    const { views, types } = this.#readers
    const { budget, computesElsewhere } = options
    const reader = this.#reader
    const parts = {
      reader,
      version: this.version,
      ledger: this.ledger,
      readBeside: (version: bigint) => this.#transactions.at(version),
      start: (view: StateView, trace: ReadTrace) =>
        views.start(view, types, request, { budget, computesElsewhere, trace }),
    }
    return createViewHistory(parts, options)
  }

  /** The state at a change. A change below the window is read at the oldest version, where its value still stands. */
  #viewOfChange(version: bigint): StateView {
    const { oldestVersion } = this.ledger
    return this.#reader.at(version < oldestVersion ? oldestVersion : version)
  }

  blockByHeight(height: bigint): LedgerBlock {
    return blockByHeight(this.#reader, this.ledger, height)
  }

  blockByVersion(version: bigint): LedgerBlock {
    return blockByVersion(this.#reader, this.ledger, version)
  }
}
