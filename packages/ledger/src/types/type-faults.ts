import { isLedgerStateError, type LedgerStateError } from '@ledger-state/core'

/**
 * Whether an error says that a type cannot be resolved, or that a value does not fit its type. An unreadable module is
 * not such an error.
 */
export function isTypeFault(error: unknown): error is LedgerStateError {
  return isLedgerStateError(
    error,
    'invalid_value',
    'invalid_bcs',
    'module_not_found',
    'struct_not_found',
    'type_argument_count',
    'unsupported_type',
    'type_too_large',
  )
}
