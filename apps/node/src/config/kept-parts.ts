import type { KeptParts } from '@ledger-state/ingest'
import type { CommandInput } from './command.js'
import { settings } from './settings.js'
import { asksForSlice } from './slice-settings.js'

/** Parts of transactions that a command keeps. A slice keeps at least their summaries. */
export function readKeptParts(input: CommandInput): KeptParts {
  const asked = input.get(settings.keepTransactions)
  return asked === 'none' && asksForSlice(input) ? 'summary' : asked
}
