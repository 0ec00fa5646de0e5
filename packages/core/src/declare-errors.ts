import { type FieldsOf, LedgerStateError } from './error.js'

/** An error's text, its fields, and its cause. An error without fields and cause is written as its text. */
type ErrorParts<Code extends string> =
  | (Record<never, never> extends FieldsOf<Code> ? string : never)
  | readonly [text: string, fields: FieldsOf<Code>, cause?: unknown]

/** Functions that make the errors of a table from the arguments of their rows. */
type ErrorsOf<Code extends string, Rows> = {
  readonly [Name in keyof Rows]: Rows[Name] extends (...args: infer Args) => unknown
    ? (...args: Args) => LedgerStateError<Code>
    : never
}

/**
 * Declares the errors with one code as a table: each row has a name and a text, and fields and a cause if the error has
 * any.
 * @typeParam Code the code of all errors of the table
 * @typeParam Rows functions from the arguments of an error to its parts, by name
 * @example
 * ```ts
 * import { declareErrors } from '@ledger-state/core'
 *
 * const invalidHex = declareErrors('invalid_hex', {
 *   oddLength: (text: string) => `${text} has an odd number of digits`,
 * })
 * console.log(invalidHex.oddLength('0x1').code, invalidHex.oddLength('0x1').message) // invalid_hex 0x1 has an odd number of digits
 * ```
 */
export function declareErrors<
  const Code extends string,
  Rows extends Readonly<Record<string, (...args: never[]) => ErrorParts<Code>>>,
>(code: Code, rows: Rows): ErrorsOf<Code, Rows> {
  const made = Object.entries(rows).map(([name, partsOf]) => {
    return [name, (...args: never[]) => createError(code, partsOf(...args))]
  })
  return Object.fromEntries(made)
}

function createError<Code extends string>(code: Code, parts: string | readonly [string, FieldsOf<Code>, unknown?]) {
  if (typeof parts === 'string') return new LedgerStateError<string>(code, parts)
  const [text, fields, cause] = parts
  return new LedgerStateError<string>(code, text, fields, parts.length === 3 ? { cause } : undefined)
}
