import { ADDRESS_LENGTH, addressToLongHex, addressToShortHex } from '@ledger-state/core'

/** Addresses below this number are printed without leading zeros. */
const FIRST_LONG = 16

/** An address in the form of AIP-40: 0x0 to 0xf short, all others with 64 digits. */
export function addressToText(address: Uint8Array): string {
  const last = ADDRESS_LENGTH - 1
  if (address[last]! >= FIRST_LONG) return addressToLongHex(address)
  for (let at = 0; at < last; at++) if (address[at] !== 0) return addressToLongHex(address)
  return addressToShortHex(address)
}
