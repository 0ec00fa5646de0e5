import { isLedgerStateError, type LedgerStateError } from '@ledger-state/core'

/**
 * Whether an error says that stored bytes cannot be read as what they are asked for: they are not of their type, their type or
 * its modules cannot be resolved, or balances add up to too much. Such an error belongs to one value at one version; a history
 * continues behind it.
 */
export function isUnreadable(error: unknown): error is LedgerStateError {
  return isLedgerStateError(
    error,
    'invalid_bcs',
    'balance_overflow',
    'stored_data_invalid',
    'value_type_mismatch',
    'invalid_module',
  )
}
