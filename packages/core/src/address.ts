import { LedgerStateError } from './error.js'
import { bytesToHexDigits, clip, hexDigitValue } from './hex.js'

export const ADDRESS_LENGTH = 32

/**
 * Bytes of an account address: 1 to 64 hex digits of either case, with or without `0x`, padded on the left.
 * @throws `invalid_address`
 */
export function parseAddress(text: string): Uint8Array {
  return parseAddressDigits(text, text.startsWith('0x') ? 2 : 0, text.length)
}

/**
 * Bytes of the hex digits in `text[start, end)`, padded on the left to 32.
 * @throws `invalid_address`
 */
export function parseAddressDigits(text: string, start: number, end: number): Uint8Array {
  const digits = end - start
  const fail = (why: string) =>
    new LedgerStateError('invalid_address', `Invalid account address ${JSON.stringify(clip(text))}: ${why}`)
  if (digits === 0) throw fail('the text is too short, 1 to 64 hex digits are expected after the optional 0x')
  if (digits > ADDRESS_LENGTH * 2) throw fail(`${digits} digits where 1 to 64 hex digits are expected`)
  const address = new Uint8Array(ADDRESS_LENGTH)
  for (let at = start, nibble = ADDRESS_LENGTH * 2 - digits; at < end; at++, nibble++) {
    const value = hexDigitValue(text.charCodeAt(at))
    if (value < 0) {
      throw fail(`invalid character '${String.fromCodePoint(text.codePointAt(at)!)}' at position ${at - start}`)
    }
    address[nibble >> 1]! |= nibble & 1 ? value : value << 4
  }
  return address
}

/** `0x` and lower-case hex without leading zeros, `0x0` for zero: the form in values, messages and type texts. */
export function addressToShortHex(address: Uint8Array): string {
  return hexDigitsToShortHex(bytesToHexDigits(address))
}

/** The short form of the 64 hex digits of an address. */
export function hexDigitsToShortHex(digits: string): string {
  let first = 0
  while (first < digits.length - 1 && digits.charCodeAt(first) === 0x30) first++
  return `0x${digits.slice(first)}`
}

/** `0x` and all 64 digits. */
export function addressToLongHex(address: Uint8Array): string {
  return `0x${bytesToHexDigits(address)}`
}
