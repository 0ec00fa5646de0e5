import { bytesToHexDigits } from '@ledger-state/core/bytes'

/** A key as a text that maps are keyed by: two digits a byte, in the order of the bytes. */
export function keyToText(key: Uint8Array): string {
  return bytesToHexDigits(key)
}
