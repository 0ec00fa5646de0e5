import type { SliceLeftOut } from '@ledger-state/records'

/**
 * Counts of the data that a slice leaves out, under their JSON names; null if the store keeps everything, or did not
 * count.
 */
export function leftOutFacts(leftOut: SliceLeftOut | undefined) {
  if (!leftOut) return null
  const { keys, bytes, writes, writtenBytes } = leftOut
  return { keys, bytes, writes, written_bytes: writtenBytes }
}
