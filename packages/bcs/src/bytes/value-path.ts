import { clip, LedgerStateError } from '@ledger-state/core'

/** Most UTF-16 units of a path that a message shows. */
const MAX_PATH = 240
const MAX_SEGMENT = 80

/**
 * Adds a segment, which is a field name or `[index]`, to the path of a fault. The path is built only after a failure,
 * so that decoding costs nothing for it. The innermost part of a long path is kept.
 */
export function faultInside(segment: string, error: unknown): unknown {
  if (!(error instanceof LedgerStateError)) return error
  return new LedgerStateError(error.code, error.message, {
    ...error.fields,
    path: outerPath(segment, error.fields.path),
  })
}

function outerPath(segment: string, inner: string | number | bigint | undefined): string {
  const outer = clip(segment, MAX_SEGMENT)
  if (inner === undefined) return outer
  const text = String(inner)
  if (text.length > MAX_PATH) return text.startsWith('…') ? text : `…${text}`
  return `${outer}${text.startsWith('[') ? '' : '.'}${text}`
}

/** Makes the error with the path of the fault in its message. */
export function faultWithPath(error: unknown): unknown {
  if (!(error instanceof LedgerStateError) || error.fields.path === undefined) return error
  return new LedgerStateError(error.code, `${error.fields.path}: ${error.message}`, error.fields)
}
