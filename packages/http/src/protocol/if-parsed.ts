import { isLedgerStateError } from '@ledger-state/core'

/** The result of a parser; undefined if it refuses the text. */
export function ifParsed<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch (error) {
    if (isLedgerStateError(error)) return undefined
    throw error
  }
}
