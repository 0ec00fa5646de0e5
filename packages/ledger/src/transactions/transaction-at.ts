import { larger } from '@ledger-state/core'
import { readExecution } from '@ledger-state/proof/transactions'
import {
  type KeptTransaction,
  readKeptTransaction,
  TRANSACTIONS_KEY,
  WHOLE_TRANSACTIONS_KEY,
  wholeTransactionsBegin,
} from '@ledger-state/records'
import type { LedgerState } from '../state/ledger-state.js'
import { hashAt } from './ledger-transaction.js'

/**
 * The transaction that made a version, which must not be above the version of the state. Undefined if the store does
 * not have it, if the version wrote nothing, and below the window.
 * @throws `version_truncated`
 */
export function transactionAt(state: LedgerState, version: bigint): KeptTransaction | undefined {
  return state.transactions.at(version)
}

/**
 * As `transactionAt`, and of a version that wrote nothing if the store has its whole transaction.
 * @throws `version_truncated`; `invalid_bcs`
 */
export function transactionFactsAt(state: LedgerState, version: bigint): KeptTransaction | undefined {
  return transactionAt(state, version) ?? factsOfWhole(state, version)
}

function factsOfWhole(state: LedgerState, version: bigint): KeptTransaction | undefined {
  const stored = state.transactions.storedAt(version)
  if (!stored) return undefined
  const isSuccess = readExecution(stored.outline).status.kind === 'success'
  return readKeptTransaction(stored.transaction, { hash: hashAt(state, stored), isSuccess })
}

/** Whether the store has the transactions of some versions of the window, up to the version of the state. */
export function hasTransactions(state: LedgerState): boolean {
  return state.transactions.areThere
}

/**
 * First version since which the store has the transaction of every version that wrote state; undefined if the newest
 * came without one.
 */
export function transactionsSince({ view, transactions }: LedgerState): bigint | undefined {
  const begun = view.getEntry(TRANSACTIONS_KEY)?.version
  return begun === undefined ? undefined : larger(begun, transactions.oldestVersion)
}

/**
 * First version since which the store has the whole transaction of every version, or every one of the slice; undefined
 * if the newest came without one.
 */
export function wholeTransactionsSince({ view, transactions }: LedgerState): bigint | undefined {
  const begun = wholeTransactionsBegin(view.getEntry(WHOLE_TRANSACTIONS_KEY))
  return begun === undefined ? undefined : larger(begun, transactions.oldestVersion)
}
