import type { SliceLeftOut } from '@ledger-state/ledger'

/** What a slice left out, under its names in JSON; null if the store keeps everything, or did not count. */
export function leftOutFacts(leftOut: SliceLeftOut | undefined) {
  if (!leftOut) return null
  const { keys, bytes, writes, writtenBytes } = leftOut
  return { keys, bytes, writes, written_bytes: writtenBytes }
}
