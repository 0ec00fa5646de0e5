import { isLedgerStateError, type LedgerStateError } from '@ledger-state/core'

/** Whether a type cannot be resolved, or a value is not of its type. A module that cannot be read is another matter. */
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
