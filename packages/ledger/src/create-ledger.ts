import type { LedgerInfo, StateReader, StateView } from '@ledger-state/core'
import { parseTypeTag } from '@ledger-state/type-tag'
import { type Asset, assetHeapSize, parseAsset } from './balances/asset.js'
import { BalanceReader } from './balances/balance-reader.js'
import type { Ledger, LedgerState } from './ledger.js'
import { ParsedTexts } from './parsed-texts.js'
import { readRawTableItem, readTableItem, type TableItem, type TableItemRequest } from './tables/table-item.js'
import { typeTagHeapSize } from './types/heap-size.js'
import { TypeResolver } from './types/type-resolver.js'

/** Bytes of heap, each. */
const PARSED_TYPES_CAPACITY = 2 << 20
const PARSED_ASSETS_CAPACITY = 2 << 20

/** What all reads of a ledger share. */
interface SharedReaders {
  readonly types: TypeResolver
  readonly balances: BalanceReader
}

/** The reads over a versioned store. */
export function createLedger(state: StateReader): Ledger {
  const readers: SharedReaders = { types: new TypeResolver(), balances: new BalanceReader() }
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
      if (last?.view !== view) last = new PinnedState(view, readers)
      return last
    },
  }
}

class PinnedState implements LedgerState {
  readonly version: bigint
  readonly ledger: LedgerInfo
  readonly view: StateView
  readonly #readers: SharedReaders

  constructor(view: StateView, readers: SharedReaders) {
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
}
