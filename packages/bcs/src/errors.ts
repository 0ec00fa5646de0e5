import { clip, LedgerStateError, quote } from '@ledger-state/core'

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** `path` in the value, inside one. */
    invalid_value: { readonly path?: string }
    /** Line and column count from 1; absent if the text is not UTF-8. */
    invalid_json: { readonly line?: number; readonly column?: number }
    /** `path` in the value, inside one. */
    unsupported_type: { readonly path?: string }
    /** `path` in the value, inside one. */
    type_too_large: { readonly path?: string }
  }
}

/**
 * Codes of bytes and values that do not fit their layout, of texts that are not JSON, and of layouts that cannot be
 * used.
 */
export type BcsErrorCode = 'invalid_bcs' | 'invalid_value' | 'invalid_json' | 'unsupported_type' | 'type_too_large'

type BcsError = LedgerStateError<BcsErrorCode>

export function invalidJson(why: string, line: number, column: number): BcsError {
  return new LedgerStateError('invalid_json', `${why} at line ${line} column ${column}`, { line, column })
}

/** Error of a value that does not fit its layout. The caller clips quotations in `why`. */
export function invalidValue(why: string): BcsError {
  return new LedgerStateError('invalid_value', why)
}

export function valueMismatch(found: string, expected: string): BcsError {
  return invalidValue(`invalid type: ${found}, expected ${expected}`)
}

export function integerOutOfRange(text: string, kind: string): BcsError {
  return invalidValue(`${clip(text)} does not fit in ${kind}`)
}

export function tooManyInOption(count: number): BcsError {
  return invalidValue(`expected at most one element in an Option, got ${count}`)
}

export function fieldNotFound(name: string): BcsError {
  return invalidValue(`field ${clip(name)} not found`)
}

export function unknownField(name: string): BcsError {
  return invalidValue(`Unknown field ${quote(name)}`)
}

export function unknownVariant(name: string, known: readonly string[]): BcsError {
  return invalidValue(`Variant ${clip(name)} not found, expected one of ${clip(known.join(', '))}`)
}

export function notOfBcsType(name: string, cause: unknown): BcsError {
  const message = `no ${clip(name)}: ${clip((cause as Error).message)}`
  return new LedgerStateError('invalid_bcs', message, {}, { cause })
}

export function notForBcsType(name: string, cause: unknown): BcsError {
  const message = `no ${clip(name)}: ${clip((cause as Error).message)}`
  return new LedgerStateError('invalid_value', message, {}, { cause })
}

export function notCanonical(name: string): BcsError {
  return new LedgerStateError('invalid_bcs', `the bytes are not the canonical form of a ${clip(name)}`)
}

export function unsupportedType(why: string): BcsError {
  return new LedgerStateError('unsupported_type', why)
}

export function typeTooDeep(most: number): BcsError {
  return new LedgerStateError('type_too_large', `the type is nested more than ${most} levels deep`)
}

export function tooMuchCaptured(most: number): BcsError {
  return new LedgerStateError('type_too_large', `function values capture layouts of more than ${most} parts`)
}

export function jsonTooLong(most: number): BcsError {
  return new LedgerStateError('type_too_large', `the value prints to more than ${most} bytes`)
}
