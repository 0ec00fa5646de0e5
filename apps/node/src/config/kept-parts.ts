import type { KeptParts } from '@ledger-state/ingest'
import type { TransactionIndex } from '@ledger-state/records'
import { usageError } from '../errors.js'
import type { CommandInput } from './command.js'
import { settings } from './settings.js'
import { asksForSlice } from './slice-settings.js'

/**
 * Parts of transactions that a command keeps; undefined for the default of `IngestOptions`. A slice keeps at least their
 * summaries.
 */
export function readKeptParts(input: CommandInput): KeptParts | undefined {
  const asked = input.get(settings.keepTransactions)
  return asked === 'none' && asksForSlice(input) ? 'summary' : asked
}

/** Indexes of whole transactions; undefined for all, or those that the store has. */
export function readTransactionIndexes(input: CommandInput): readonly TransactionIndex[] | undefined {
  const asked = input.get(settings.transactionIndexes)
  const parts = input.get(settings.keepTransactions) ?? 'whole'
  if (asked && parts !== 'whole') throw usageError('--transaction-indexes needs whole transactions')
  return asked
}

/**
 * Number of versions whose whole transactions stay after their state is pruned; undefined if they leave with it.
 * @param retain number of versions whose state is kept
 */
export function readRetainedTransactions(input: CommandInput, retain: bigint | undefined): bigint | undefined {
  const asked = input.get(settings.retainTransactions)
  if (asked === undefined) return undefined
  if (retain === undefined) throw usageError('--retain-transactions needs --retain: without it nothing is pruned')
  if (asked <= retain) throw usageError('--retain-transactions must be larger than --retain')
  return asked
}
