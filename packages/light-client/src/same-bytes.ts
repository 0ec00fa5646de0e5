import { compareBytes } from '@ledger-state/core/bytes'

/** Whether two byte strings are the same, or both absent. */
export function isSameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : compareBytes(a, b) === 0
}
