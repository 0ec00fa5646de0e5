import { addressToShortHex, LedgerStateError, quote } from '@ledger-state/core'

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** `offset` in the text, in UTF-16 units. */
    invalid_type_tag: { readonly offset?: number }
  }
}

/** Code of texts that are not a type. Bytes that are not a type or state key are `invalid_bcs`, a code of core. */
export type TypeTagErrorCode = 'invalid_type_tag'

/** Error of a text that is not a type. `offset` counts UTF-16 units of the text. */
export function invalidTypeTag(text: string, offset: number, why: string): LedgerStateError<TypeTagErrorCode> {
  const message = `Unable to parse move type ${quote(text)}: at offset ${offset} ${why}`
  return new LedgerStateError('invalid_type_tag', message, { offset })
}

/** Error of a stored resource that has another form than the framework's. */
export function storedResourceInvalid(
  name: string,
  address: Uint8Array,
  { message: why, fields }: LedgerStateError<'invalid_bcs'>,
): LedgerStateError<'invalid_bcs'> {
  const message = `the stored ${name} at ${addressToShortHex(address)} cannot be decoded: ${why}`
  return new LedgerStateError('invalid_bcs', message, fields)
}
