import { clip, LedgerStateError } from '@ledger-state/core'

/** UTF-16 units of a path that a message shows. */
const MAX_PATH = 240
const MAX_SEGMENT = 80

/**
 * The same fault, seen from one level further out: `segment` is a field name or `[index]`. The path is built only
 * when something failed, so that decoding pays nothing for it. If the path is long, its innermost part is kept.
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

/** The same fault with its path in the message. */
export function faultWithPath(error: unknown): unknown {
  if (!(error instanceof LedgerStateError) || error.fields.path === undefined) return error
  return new LedgerStateError(error.code, `${error.fields.path}: ${error.message}`, error.fields)
}
