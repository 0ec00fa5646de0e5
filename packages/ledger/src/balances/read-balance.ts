import { coinStoreValue, primaryStoreBalance } from '@ledger-state/type-tag'
import type { Asset } from '../assets/asset.js'
import { type LedgerState, viewOfOwned } from '../state/ledger-state.js'
import { sumOfBalances } from './sum-of-balances.js'

/**
 * Reads the balance of an account: for a coin the sum of its coin store and primary store, for a fungible asset the
 * balance of the primary store. A store that is missing counts 0; accounts, assets and modules need not exist.
 * @throws `invalid_bcs` if a stored resource does not decode; `balance_overflow` above 2^64 - 1; `version_pruned`
 */
export function readBalance(state: LedgerState, owner: Uint8Array, asset: Asset): bigint {
  const { coinStore, primaryStore } = state.source.balanceKeys.fillKeys(owner, asset)
  const group = viewOfOwned(state, owner).peek(primaryStore)
  const fungible = group === undefined ? 0n : primaryStoreBalance(primaryStore, group)
  if (coinStore === undefined) return fungible
  const coins = state.view.peek(coinStore)
  return coins === undefined ? fungible : sumOfBalances(owner, coinStoreValue(owner, coins), fungible)
}
