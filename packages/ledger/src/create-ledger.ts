import type { LedgerInfo, StateReader, StateView } from '@ledger-state/core'
import { parseTypeTag, type StructTag } from '@ledger-state/type-tag'
import { type Account, readAccount } from './accounts/account.js'
import type { Listing, ListOptions } from './accounts/listing.js'
import { type Asset, assetHeapSize, parseAsset } from './balances/asset.js'
import { BalanceReader } from './balances/balance-reader.js'
import { blockByHeight, blockByVersion, type LedgerBlock } from './blocks/read-block.js'
import { ParsedTexts } from './caches/parsed-texts.js'
import { typeTagHeapSize } from './caches/type-tag-heap-size.js'
import type { Ledger, LedgerState } from './ledger.js'
import { type AccountModule, listAccountModules, readAccountModule } from './modules/account-module.js'
import { ModuleCache } from './modules/module-cache.js'
import { listResources } from './resources/list-resources.js'
import { readResource } from './resources/read-resource.js'
import type { Resource } from './resources/resource.js'
import { readRawTableItem, readTableItem, type TableItem, type TableItemRequest } from './tables/table-item.js'
import { TypeResolver } from './types/type-resolver.js'

/** Bytes of heap, each. */
const PARSED_TYPES_CAPACITY = 2 << 20
const PARSED_ASSETS_CAPACITY = 2 << 20

/** What all reads of a ledger share. */
interface SharedReaders {
  readonly modules: ModuleCache
  readonly types: TypeResolver
  readonly balances: BalanceReader
}

/** The reads over a versioned store. */
export function createLedger(state: StateReader): Ledger {
  const modules = new ModuleCache()
  const readers: SharedReaders = { modules, types: new TypeResolver(modules), balances: new BalanceReader() }
  const types = new ParsedTexts(PARSED_TYPES_CAPACITY, parseTypeTag, typeTagHeapSize)
  const assets = new ParsedTexts(PARSED_ASSETS_CAPACITY, parseAsset, assetHeapSize)
  let last: PinnedState | undefined
  return {
    get info() {
      return state.ledger
    },
    parseType: (text) => types.parse(text),
    parseAsset: (text) => assets.parse(text),
    at(version) {
      const view = state.at(version)
      // A store may hand out one view of its newest version to all.
      if (last?.view !== view) last = new PinnedState(state, view, readers)
      return last
    },
  }
}

class PinnedState implements LedgerState {
  readonly version: bigint
  readonly ledger: LedgerInfo
  readonly view: StateView
  readonly #reader: StateReader
  readonly #readers: SharedReaders

  constructor(reader: StateReader, view: StateView, readers: SharedReaders) {
    this.#reader = reader
    this.version = view.version
    this.ledger = view.ledger
    this.view = view
    this.#readers = readers
  }

  readTableItem(request: TableItemRequest): TableItem {
    return readTableItem(this.view, this.#readers.types, request)
  }

  readRawTableItem(handle: Uint8Array, key: Uint8Array): Uint8Array {
    return readRawTableItem(this.view, handle, key)
  }

  readBalance(owner: Uint8Array, asset: Asset): bigint {
    return this.#readers.balances.read(this.view, owner, asset)
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

  blockByHeight(height: bigint): LedgerBlock {
    return blockByHeight(this.#reader, this.ledger, height)
  }

  blockByVersion(version: bigint): LedgerBlock {
    return blockByVersion(this.#reader, this.ledger, version)
  }
}
