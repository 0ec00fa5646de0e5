/** Offset of the address in a state key of an account in hex, after the first byte. */
const ADDRESS_AT = 2
/** Hex digits that a number holds exactly. */
const DIGITS = 12

/**
 * The part of all addresses that comes before a cursor, from 0 to 1. Addresses are hashes, so this is nearly the part
 * of all accounts.
 */
export function cursorToAddressPart(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  const digits = cursor.slice(ADDRESS_AT, ADDRESS_AT + DIGITS).padEnd(DIGITS, '0')
  return Number.parseInt(digits, 16) / 16 ** DIGITS
}
