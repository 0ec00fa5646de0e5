/** Facts about a failure, for programs. `message` says the same to people. */
export type ErrorFields = Readonly<Record<string, string | number | bigint | undefined>>

/**
 * The fields of each error code that has any. Each package declares the fields of its codes in its `errors.ts`:
 * `declare module '@ledger-state/core' { interface ErrorFieldsByCode { … } }`.
 */
export interface ErrorFieldsByCode {
  /** `offset` of the byte; `path` in the value, if a codec read it. */
  invalid_bcs: { readonly offset?: number; readonly path?: string }
}

/** The fields of an error whose code has none. */
export type NoFields = Readonly<Record<string, undefined>>

/**
 * The fields of errors with this code, as its package declares them; none if it declares none. Errors of any code (`string`) may
 * have any fields: codes are lower-case, which `string` is not.
 */
export type FieldsOf<Code extends string> = Code extends keyof ErrorFieldsByCode
  ? ErrorFieldsByCode[Code]
  : Code extends Lowercase<string>
    ? NoFields
    : ErrorFields

/** Arguments for the fields of an error: optional if the code has no field that is required. */
type FieldArguments<Code extends string> =
  Record<never, never> extends FieldsOf<Code>
    ? [fields?: FieldsOf<Code>, options?: ErrorOptions]
    : [fields: FieldsOf<Code>, options?: ErrorOptions]

/**
 * Brand of the errors, shared by all copies of this package in a process, so that each copy recognises the errors of
 * the others.
 */
const BRAND = Symbol.for('@ledger-state/core/LedgerStateError')

/**
 * Any failure that crosses a package border. Each package declares its codes and messages in its own `errors.ts`. One
 * table of `@ledger-state/http` decides how each code is reported to HTTP clients.
 */
export class LedgerStateError<Code extends string = string> extends Error {
  override readonly name = 'LedgerStateError'
  readonly code: Code
  readonly fields: FieldsOf<Code>
  readonly [BRAND] = true

  constructor(code: Code, message: string, ...[fields, options]: FieldArguments<Code>) {
    super(message, options)
    this.code = code
    this.fields = fields ?? ({} as FieldsOf<Code>)
  }
}

/**
 * Whether `error` is a `LedgerStateError` and, if codes are given, has one of them.
 * @example
 * ```ts
 * import { isLedgerStateError, parseU64 } from '@ledger-state/core'
 *
 * try {
 *   parseU64('-1')
 * } catch (error) {
 *   if (isLedgerStateError(error, 'invalid_u64')) console.log(error.code) // invalid_u64
 * }
 * ```
 */
export function isLedgerStateError<Code extends string = string>(
  error: unknown,
  ...codes: readonly Code[]
): error is LedgerStateError<Code> {
  if (typeof error !== 'object' || error === null || !(BRAND in error)) return false
  return codes.length === 0 || codes.includes((error as LedgerStateError<Code>).code)
}
