import { compareBytes, copyBytes } from '@ledger-state/core/bytes'
import type { StateView } from '@ledger-state/engine'
import { coinOfRow } from '@ledger-state/records'
import type { Asset } from '../assets/asset.js'
import type { LedgerState } from '../state/ledger-state.js'
import { type Holding, holdingOfCoin, holdingOfStore } from './holding.js'
import { expectOwnerKnown } from './known-holdings.js'
import {
  createHoldingsPage,
  type HoldingsPage,
  type HoldingsPageOptions,
  type HoldingsRow,
  joined,
  type RowStep,
  scanRows,
} from './row-listing.js'

/** Options of a list of balances. */
export interface BalancesOptions extends HoldingsPageOptions {
  /** The only asset to list; all by default. */
  readonly asset?: Asset | undefined
  /** Whether stores that hold nothing are omitted. */
  readonly isNonzero?: boolean | undefined
}

/** First bytes of cursors: of a coin store, then its name; of a fungible store, then its address. */
const COIN = 0
const STORE = 1

/**
 * The holdings of an account: coin stores in the order of the texts of their coin types, then fungible stores by
 * address. An account can hold the same asset as a coin and in several stores; each is an item.
 * @throws `holdings_not_indexed`; `version_pruned` if a slice has not kept the account since its beginning
 */
export function listBalances(
  state: LedgerState,
  owner: Uint8Array,
  { asset, isNonzero, ...page }: BalancesOptions = {},
): HoldingsPage<Holding> {
  expectOwnerKnown(state, owner)
  const view = state.storedView
  return createHoldingsPage(rowsOf(view, owner, asset, page.start), page, (row) => {
    const holding = readRow(view, owner, row, asset)
    return holding && isNonzero && holding.amount === 0n ? undefined : holding
  })
}

function* rowsOf(
  view: StateView,
  owner: Uint8Array,
  asset: Asset | undefined,
  start: Uint8Array | undefined,
): Generator<RowStep> {
  const isInStores = start?.[0] === STORE
  const from = start && copyBytes(start, 1)
  if (asset?.kind === 'coin') {
    // A look-up by its key: the list has one item at most.
    if (!isInStores)
      yield { second: new Uint8Array(0), value: new Uint8Array(0), version: 0n, cursor: Uint8Array.of(COIN) }
    return
  }
  if (!asset && !isInStores) yield* withKind(COIN, scanRows(view, 'ownedCoin', owner, from))
  yield* withKind(STORE, scanRows(view, 'ownedStore', owner, isInStores ? from : undefined))
}

function* withKind(kind: number, rows: Iterable<RowStep>): Generator<RowStep> {
  for (const row of rows) yield { ...row, cursor: joined(Uint8Array.of(kind), row.cursor) }
}

function readRow(
  view: StateView,
  owner: Uint8Array,
  { second, value, cursor }: HoldingsRow,
  asset: Asset | undefined,
): Holding | undefined {
  if (asset?.kind === 'coin') return holdingOfCoin(view, owner, asset.coin)
  if (cursor[0] === COIN) return holdingOfCoin(view, owner, coinOfRow(second, value))
  if (asset && compareBytes(asset.metadata, value) !== 0) return undefined
  return holdingOfStore(view, second)
}
