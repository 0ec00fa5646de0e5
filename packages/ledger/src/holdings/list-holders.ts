import { ADDRESS_LENGTH, U64_MAX } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { coinNameOf } from '@ledger-state/records'
import type { Asset } from '../assets/asset.js'
import { readTooLarge } from '../errors.js'
import type { LedgerState } from '../state/ledger-state.js'
import { type Holding, holdingOfCoin, holdingOfStore } from './holding.js'
import { expectHoldersKnown } from './known-holdings.js'
import {
  createHoldingsPage,
  type HoldingsPage,
  type HoldingsPageOptions,
  type HoldingsRow,
  isRow,
  type RowStep,
  scanRows,
} from './row-listing.js'

/** Most stores of an asset that are sorted by their amounts. They are read again for each page. */
export const MOST_SORTED_HOLDERS = 20_000

/**
 * The holders of an asset: accounts by address for a coin type, fungible stores by address for a fungible asset.
 * @throws `holdings_not_indexed`; `version_pruned` if a slice does not keep all stores of the asset
 */
export function listHolders(
  state: LedgerState,
  asset: Asset,
  options: HoldingsPageOptions = {},
): HoldingsPage<Holding> {
  expectHoldersKnown(state, asset)
  return createHoldingsPage(rowsOf(state, asset, options.start), options, (row) => readRow(state, asset, row))
}

/**
 * The holders of an asset, the largest amount first; equal amounts by address.
 * @throws as `listHolders`; (the iteration) `read_too_large` if the asset has more than `MOST_SORTED_HOLDERS` stores
 */
export function listLargestHolders(
  state: LedgerState,
  asset: Asset,
  { start, limit, isFull }: HoldingsPageOptions = {},
): HoldingsPage<Holding> {
  expectHoldersKnown(state, asset)
  let cursor: Uint8Array | undefined
  function* items(): Generator<Holding | undefined> {
    const found: Holding[] = []
    let seen = 0
    for (const row of rowsOf(state, asset, undefined)) {
      if (!isRow(row)) {
        yield undefined
        continue
      }
      if (seen++ === MOST_SORTED_HOLDERS) throw readTooLarge.tooManyHolders(MOST_SORTED_HOLDERS)
      const holding = readRow(state, asset, row)
      if (holding && (!start || compareBytes(cursorOf(holding), start) >= 0)) found.push(holding)
      yield undefined
    }
    found.sort(byAmount)
    let shown = 0
    for (const holding of found) {
      if (shown === limit || (shown > 0 && isFull?.())) {
        cursor = cursorOf(holding)
        return
      }
      shown++
      yield holding
    }
  }
  return {
    get cursor() {
      return cursor
    },
    [Symbol.iterator]: items,
  }
}

function rowsOf({ storedView }: LedgerState, asset: Asset, start: Uint8Array | undefined): Iterable<RowStep> {
  return asset.kind === 'coin'
    ? scanRows(storedView, 'accountOfCoin', coinNameOf(asset.coin).hash, start)
    : scanRows(storedView, 'storeOfAsset', asset.metadata, start)
}

function readRow({ storedView }: LedgerState, asset: Asset, { second }: HoldingsRow): Holding | undefined {
  return asset.kind === 'coin' ? holdingOfCoin(storedView, second, asset.coin) : holdingOfStore(storedView, second)
}

function byAmount(a: Holding, b: Holding): number {
  if (a.amount !== b.amount) return a.amount > b.amount ? -1 : 1
  return compareBytes(a.storage, b.storage)
}

/** A cursor that sorts as `byAmount` does: u64 greatest amount less this one, big-endian, and the address. */
function cursorOf({ amount, storage }: Holding): Uint8Array {
  const cursor = new Uint8Array(8 + ADDRESS_LENGTH)
  new DataView(cursor.buffer).setBigUint64(0, U64_MAX - amount)
  cursor.set(storage, 8)
  return cursor
}
