import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'

/** LMDB refuses empty keys, and keys above 1,978 bytes on pages of 4 KiB. */
const LONGEST_INLINE = 1_900
const PREFIX = 0x6b

/**
 * The key in LMDB: a prefix byte and the key itself; of a long key the first 1,900 bytes and the SHA-256 of the whole,
 * so that it still sorts near its neighbours. A long key stands in full in its record.
 */
export function toStoredKey(key: Uint8Array): Buffer {
  const inline = Math.min(key.length, LONGEST_INLINE)
  const long = isLongKey(key)
  const stored = Buffer.allocUnsafe(1 + inline + (long ? 32 : 0))
  stored[0] = PREFIX
  stored.set(long ? key.subarray(0, inline) : key, 1)
  if (long) stored.set(hash('sha256', key, 'buffer'), 1 + inline)
  return stored
}

/** Whether the record of the key must hold it in full. */
export function isLongKey(key: Uint8Array): boolean {
  return key.length > LONGEST_INLINE
}
