import { compareBytes } from '@ledger-state/core/bytes'
import { transactionHashKey, transactionHashMark } from '@ledger-state/records'
import type { LedgerState } from '../state/ledger-state.js'
import { createTransaction, hashAt, type LedgerTransaction } from './ledger-transaction.js'

/** The transaction with a hash; undefined if the window has none. @throws `version_truncated` */
export function findTransaction(state: LedgerState, hash: Uint8Array): LedgerTransaction | undefined {
  const { oldestVersion } = state.ledger
  const mark = transactionHashMark(hash)
  const key = transactionHashKey(hash)
  for (const { version, value } of state.source.reader.history(key, { first: oldestVersion, last: state.version })) {
    if (version < oldestVersion) return undefined
    if (!value || compareBytes(value, mark) !== 0) continue
    const stored = state.transactions.storedAt(version)
    if (stored && compareBytes(hashAt(state, stored), hash) === 0) return createTransaction(state, version, stored)
  }
  return undefined
}
