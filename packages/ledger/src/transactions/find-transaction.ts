import { compareBytes } from '@ledger-state/core/bytes'
import { transactionHashKey, transactionHashMark } from '@ledger-state/records'
import type { LedgerState } from '../state/ledger-state.js'
import { createTransaction, hashAt, type LedgerTransaction } from './ledger-transaction.js'

/**
 * The transaction with a hash; undefined if none is kept.
 * @throws `transactions_not_indexed`; `version_truncated`
 */
export function findTransaction(state: LedgerState, hash: Uint8Array): LedgerTransaction | undefined {
  state.transactions.expectIndex('hash')
  const { oldestVersion } = state.ledger
  const mark = transactionHashMark(hash)
  const key = transactionHashKey(hash)
  const matching = (version: bigint, value: Uint8Array | null): LedgerTransaction | undefined => {
    if (!value || compareBytes(value, mark) !== 0) return undefined
    const stored = state.transactions.storedAt(version)
    const isSame = stored && compareBytes(hashAt(state, stored), hash) === 0
    return isSame ? createTransaction(state, version, stored) : undefined
  }
  for (const { version, value } of state.source.reader.history(key, { first: oldestVersion, last: state.version })) {
    const found = version < oldestVersion ? undefined : matching(version, value)
    if (found) return found
  }
  const range = { first: state.transactions.oldestVersion, last: state.version }
  for (const { version, value } of state.transactions.retainedRows(key, range, 'asc')) {
    const found = matching(version, value)
    if (found) return found
  }
  return undefined
}
