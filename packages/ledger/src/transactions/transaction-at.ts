import { type KeptTransaction, TRANSACTIONS_KEY } from '@ledger-state/records'
import type { LedgerState } from '../state/ledger-state.js'

/**
 * The transaction that made a version, which must not be above the version of the state. Undefined if the store does
 * not have it, if the version wrote nothing, and below the window.
 * @throws `version_truncated`
 */
export function transactionAt(state: LedgerState, version: bigint): KeptTransaction | undefined {
  return state.transactions.at(version)
}

/** Whether the store has the transactions of some versions of the window, up to the version of the state. */
export function hasTransactions(state: LedgerState): boolean {
  return state.transactions.areThere
}

/** First version since which every version that wrote state came with its transaction; undefined if the newest did not. */
export function transactionsSince({ view }: LedgerState): bigint | undefined {
  return view.getEntry(TRANSACTIONS_KEY)?.version
}
