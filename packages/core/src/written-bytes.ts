import type { KeyedEntry, Write } from './ledger-record.js'

/** Bytes of the keys and values of writes; a deletion counts the bytes of its key. */
export function bytesOfWrites(writes: readonly Write[]): number {
  let bytes = 0
  for (const [key, value] of writes) bytes += key.length + (value?.length ?? 0)
  return bytes
}

/** Bytes of the keys and values of entries of a state. */
export function bytesOfEntries(entries: readonly KeyedEntry[]): number {
  let bytes = 0
  for (const { key, value } of entries) bytes += key.length + value.length
  return bytes
}
