import { isLedgerStateError, type LedgerStateError } from '@ledger-state/core'

/**
 * Whether an error says that stored bytes cannot be read as requested: they do not fit their type, their type or its
 * modules cannot be resolved, or a sum of balances is too large. Such an error concerns one value at one version; a
 * history continues after it.
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
