import {
  ALL_TRANSACTION_INDEXES,
  decodeWholeTransactionsMark,
  TRANSACTION_INDEXES,
  type TransactionIndex,
} from '@ledger-state/records'
import { otherIndexes } from '../errors.js'

/**
 * The indexes of whole transactions that a store keeps.
 * @param mark value of `WHOLE_TRANSACTIONS_KEY`; undefined if the store has no whole transactions
 * @throws `invalid_argument` if the store has others than those that are asked for
 */
export function keptIndexes(
  mark: Uint8Array | undefined,
  asked: readonly TransactionIndex[] | undefined,
): ReadonlySet<TransactionIndex> {
  if (!mark) return asked ? new Set(asked) : ALL_TRANSACTION_INDEXES
  const { indexes } = decodeWholeTransactionsMark(mark)
  const isOther = (index: TransactionIndex): boolean => indexes.has(index) !== asked!.includes(index)
  if (asked && TRANSACTION_INDEXES.some(isOther)) throw otherIndexes([...indexes])
  return indexes
}
