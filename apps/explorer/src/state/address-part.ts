/** A state key of an account in hex: a byte, then the address. */
const ADDRESS_AT = 2
/** Digits that a number holds exactly. */
const DIGITS = 12

/** The part of all addresses that lies before a cursor, from 0 to 1. Addresses are hashes: nearly the part of all accounts. */
export function cursorToAddressPart(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  const digits = cursor.slice(ADDRESS_AT, ADDRESS_AT + DIGITS).padEnd(DIGITS, '0')
  return Number.parseInt(digits, 16) / 16 ** DIGITS
}
