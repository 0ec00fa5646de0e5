import { clip, declareErrors, LedgerStateError, quote } from '@ledger-state/core'

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

export const invalidValue = declareErrors('invalid_value', {
  /** A value that does not fit its layout. The caller clips quotations in `why`. */
  because: (why: string) => why,
  valueMismatch: (found: string, expected: string) => `invalid type: ${found}, expected ${expected}`,
  integerOutOfRange: (text: string, kind: string) => `${clip(text)} does not fit in ${kind}`,
  tooManyInOption: (count: number) => `expected at most one element in an Option, got ${count}`,
  fieldNotFound: (name: string) => `field ${clip(name)} not found`,
  unknownField: (name: string) => `Unknown field ${quote(name)}`,
  unknownVariant: (name: string, known: readonly string[]) =>
    `Variant ${clip(name)} not found, expected one of ${clip(known.join(', '))}`,
  notForBcsType: (name: string, cause: unknown) => [`no ${clip(name)}: ${clip((cause as Error).message)}`, {}, cause],
})

export const invalidBcs = declareErrors('invalid_bcs', {
  notOfBcsType: (name: string, cause: unknown) => [`no ${clip(name)}: ${clip((cause as Error).message)}`, {}, cause],
  notCanonical: (name: string) => `the bytes are not the canonical form of a ${clip(name)}`,
})

export function unsupportedType(why: string): BcsError {
  return new LedgerStateError('unsupported_type', why)
}

export const typeTooLarge = declareErrors('type_too_large', {
  typeTooDeep: (most: number) => `the type is nested more than ${most} levels deep`,
  tooMuchCaptured: (most: number) => `function values capture layouts of more than ${most} parts`,
  jsonTooLong: (most: number) => `the value prints to more than ${most} bytes`,
})
