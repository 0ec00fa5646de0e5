import { clip, isLedgerStateError, LedgerStateError } from '@ledger-state/core'
import type { BcsErrorCode } from '../errors.js'

/** Most UTF-16 units of a path that a message shows. */
const MAX_PATH = 240
const MAX_SEGMENT = 80

/**
 * Adds a segment, which is a field name or `[index]`, to the path of a fault. The path is built only after a failure,
 * so that decoding costs nothing for it. The innermost part of a long path is kept.
 */
export function faultInside(segment: string, error: unknown): unknown {
  if (!isValueFault(error)) return error
  return new LedgerStateError(error.code, error.message, {
    ...error.fields,
    path: outerPath(segment, error.fields.path),
  })
}

function outerPath(segment: string, inner: string | undefined): string {
  const outer = clip(segment, MAX_SEGMENT)
  if (inner === undefined) return outer
  if (inner.length > MAX_PATH) return inner.startsWith('…') ? inner : `…${inner}`
  return `${outer}${inner.startsWith('[') ? '' : '.'}${inner}`
}

/** Whether the error is about a value and has its path in its fields. */
function isValueFault(error: unknown): error is LedgerStateError<Exclude<BcsErrorCode, 'invalid_json'>> {
  return isLedgerStateError(error, 'invalid_bcs', 'invalid_value', 'unsupported_type', 'type_too_large')
}

/** Makes the error with the path of the fault in its message. */
export function faultWithPath(error: unknown): unknown {
  if (!isValueFault(error) || error.fields.path === undefined) return error
  return new LedgerStateError(error.code, `${error.fields.path}: ${error.message}`, error.fields)
}
