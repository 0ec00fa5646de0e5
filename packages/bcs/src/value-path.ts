import { LedgerStateError } from '@ledger-state/core'

/**
 * The same fault, seen from one level further out: `segment` is a field name or `[index]`. The path is built only
 * when something failed, so decoding that works pays nothing for it.
 */
export function faultInside(segment: string, error: unknown): unknown {
  if (!(error instanceof LedgerStateError)) return error
  const inner = error.fields.path
  const path = inner === undefined ? segment : `${segment}${String(inner).startsWith('[') ? '' : '.'}${inner}`
  return new LedgerStateError(error.code, error.message, { ...error.fields, path }, { cause: error.cause })
}

/** The same fault with its path in the message. */
export function faultWithPath(error: unknown): unknown {
  if (!(error instanceof LedgerStateError) || error.fields.path === undefined) return error
  return new LedgerStateError(error.code, `${error.fields.path}: ${error.message}`, error.fields)
}
