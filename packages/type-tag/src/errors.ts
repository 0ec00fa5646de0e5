import { LedgerStateError, quote } from '@ledger-state/core'

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** `offset` in the text, in UTF-16 units. */
    invalid_type_tag: { readonly offset?: number }
  }
}

/** Texts that name no type. Bytes that hold no type or state key are `invalid_bcs`, a code of core. */
export type TypeTagErrorCode = 'invalid_type_tag'

/** The error of a text that stops to be a type at `offset`, in UTF-16 units. */
export function invalidTypeTag(text: string, offset: number, why: string): LedgerStateError<TypeTagErrorCode> {
  const message = `Unable to parse move type ${quote(text)}: at offset ${offset} ${why}`
  return new LedgerStateError('invalid_type_tag', message, { offset })
}
