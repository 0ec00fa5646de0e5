import { compareBytes } from '@ledger-state/core/bytes'

/** Bytes of an ASCII text, such as the one with which a mark begins. */
export function textBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function beginsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return bytes.length >= start.length && compareBytes(bytes.subarray(0, start.length), start) === 0
}
