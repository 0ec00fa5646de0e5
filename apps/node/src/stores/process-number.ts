import { isLedgerStateError } from '@ledger-state/core'

/** Whether a store cannot be opened because a process of another container has it open under the number of this one. */
export function isProcessNumberTaken(error: unknown): boolean {
  return isLedgerStateError(error, 'store_failed') && error.fields.processId !== undefined
}
