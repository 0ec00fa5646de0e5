import { isLedgerStateError } from '@ledger-state/core'
import type { LedgerSource } from '@ledger-state/feed'
import { atSourcePosition } from '../errors.js'

/** Runs work of a store, and adds the place in the source to its errors. */
export async function withPlace(source: LedgerSource, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw isLedgerStateError(error) ? atSourcePosition(error, source.position) : error
  }
}
