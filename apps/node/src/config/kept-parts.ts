import type { KeptParts } from '@ledger-state/ingest'
import type { CommandInput } from './command.js'
import { settings } from './settings.js'
import { asksForSlice } from './slice-settings.js'

/** What a command keeps of transactions. A slice keeps their summaries at least. */
export function readKeptParts(input: CommandInput): KeptParts {
  const asked = input.get(settings.keepTransactions)
  return asked === 'none' && asksForSlice(input) ? 'summary' : asked
}
