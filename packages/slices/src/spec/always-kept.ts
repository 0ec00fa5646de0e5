import { ADDRESS_LENGTH } from '@ledger-state/core'

/** The addresses of the framework: 0x1, 0x3, 0x4 and 0xa. Every slice keeps their state. */
const FRAMEWORK_ADDRESSES: readonly number[] = [0x1, 0x3, 0x4, 0xa]

/** Whether the address that begins at `start` is one of the framework. */
export function isFrameworkAt(bytes: Uint8Array, start: number): boolean {
  for (let at = start; at < start + ADDRESS_LENGTH - 1; at++) if (bytes[at] !== 0) return false
  return FRAMEWORK_ADDRESSES.includes(bytes[start + ADDRESS_LENGTH - 1]!)
}
