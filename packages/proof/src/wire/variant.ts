import { type ByteReader, LedgerStateError } from '@ledger-state/core'

/**
 * A variant of an enum that this package does not know. Its length is unknown, so the following data cannot be found.
 */
export class UnknownVariantError extends LedgerStateError<'invalid_bcs'> {
  /** Name of the variant, such as `variant 9 of a payload`. */
  readonly variant: string

  constructor(variant: string, offset: number) {
    super('invalid_bcs', `unknown ${variant} at byte ${offset}`, { offset })
    this.variant = variant
  }
}

/**
 * Reads the variant of an enum with the variants 0 to `count` - 1.
 * @param what the enum, as messages name it
 * @throws `UnknownVariantError`, `invalid_bcs`
 */
export function readVariant(reader: ByteReader, what: string, count: number): number {
  const start = reader.offset
  const variant = reader.readUleb128()
  if (variant >= count) throw unknownVariant(what, variant, start)
  return variant
}

export function unknownVariant(what: string, variant: number, offset: number): UnknownVariantError {
  return new UnknownVariantError(`variant ${variant} of ${what}`, offset)
}
