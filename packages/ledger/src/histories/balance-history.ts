import type { Asset } from '../assets/asset.js'
import { type LedgerState, readerOfOwned } from '../state/ledger-state.js'
import { type Change, type ChangeHistoryOptions, createHistory, type History } from './history.js'
import { observeBalance } from './observations.js'

/**
 * The versions at which a balance changed, up to the version of the state.
 * @throws (the iteration) as `readBalance`
 */
export function balanceHistory(
  state: LedgerState,
  owner: Uint8Array,
  asset: Asset,
  options: ChangeHistoryOptions = {},
): History<Change<bigint>> {
  const observation = observeBalance(owner, state.source.balanceKeys.keysOf(owner, asset))
  return createHistory(readerOfOwned(state, owner), state, observation, options, (balance) => balance)
}
