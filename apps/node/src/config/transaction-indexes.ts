import { TRANSACTION_INDEXES, type TransactionIndex } from '@ledger-state/records'
import { oneOf } from './option.js'

const parseIndex = oneOf(...TRANSACTION_INDEXES)

/** Parses the names of indexes of transactions, with commas; `none` for no index. */
export function parseTransactionIndexes(text: string): readonly TransactionIndex[] {
  return text === 'none' ? [] : text.split(',').map((name) => parseIndex(name.trim()))
}
