import { bytesToHexDigits } from '#bytes'
import { hexDigitValue } from './bytes/hex-digit.js'
import { invalidAddress } from './errors.js'
import { badHexDigit } from './hex.js'

/** Length of an account address in bytes. */
export const ADDRESS_LENGTH = 32

/**
 * Parses an account address of 1 to 64 hex digits of either case, with or without `0x`. Shorter ones are padded on the
 * left.
 * @throws `invalid_address`
 * @example
 * ```ts
 * import { addressToLongHex, addressToShortHex, parseAddress } from '@ledger-state/core'
 *
 * const framework = parseAddress('0x1')
 * console.log(addressToShortHex(framework)) // 0x1
 * console.log(addressToLongHex(framework).length) // 66
 * ```
 */
export function parseAddress(text: string): Uint8Array {
  return parseAddressDigits(text, text.startsWith('0x') ? 2 : 0, text.length)
}

/**
 * Parses the hex digits in `text[start, end)`, padded on the left to 32 bytes.
 * @throws `invalid_address`
 */
export function parseAddressDigits(text: string, start: number, end: number): Uint8Array {
  const address = new Uint8Array(ADDRESS_LENGTH)
  writeAddressDigits(address, 0, text, start, end)
  return address
}

/**
 * Writes the 32 bytes of an address at `at`: the hex digits in `text[start, end)`, padded on the left. The caller makes
 * sure that there is room for them.
 * @throws `invalid_address`
 */
export function writeAddressDigits(target: Uint8Array, at: number, text: string, start: number, end: number): void {
  const digits = end - start
  if (digits === 0)
    throw invalidAddress(text, 'the text is too short, 1 to 64 hex digits are expected after the optional 0x')
  if (digits > ADDRESS_LENGTH * 2) throw invalidAddress(text, `${digits} digits where 1 to 64 hex digits are expected`)
  let faults = 0
  let byte = at + ADDRESS_LENGTH
  let next = end
  // From the last digit to the first, two at a time.
  while (next - start >= 2) {
    next -= 2
    const high = hexDigitValue(text.charCodeAt(next))
    const low = hexDigitValue(text.charCodeAt(next + 1))
    faults |= high | low
    target[--byte] = (high << 4) | low
  }
  if (next > start) {
    const low = hexDigitValue(text.charCodeAt(start))
    faults |= low
    target[--byte] = low
  }
  // The value of a character that is not a digit is negative.
  if (faults < 0) throw invalidAddress(text, badHexDigit(text, start))
  while (byte > at) target[--byte] = 0
}

/**
 * The short form of an address, as values, messages and type texts have it: `0x` and lower-case hex without leading
 * zeros, `0x0` for zero.
 */
export function addressToShortHex(address: Uint8Array): string {
  let first = 0
  while (first < ADDRESS_LENGTH - 1 && address[first] === 0) first++
  // Well-known addresses are small numbers.
  if (first >= ADDRESS_LENGTH - 3) {
    const small =
      (address[ADDRESS_LENGTH - 3]! << 16) | (address[ADDRESS_LENGTH - 2]! << 8) | address[ADDRESS_LENGTH - 1]!
    return `0x${small.toString(16)}`
  }
  const digits = bytesToHexDigits(address.subarray(first))
  return digits.charCodeAt(0) === 0x30 ? `0x${digits.slice(1)}` : `0x${digits}`
}

/** The long form of an address: `0x` and all 64 digits. */
export function addressToLongHex(address: Uint8Array): string {
  return `0x${bytesToHexDigits(address)}`
}
