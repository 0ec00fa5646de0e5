import { hash } from 'node:crypto'

/** LMDB refuses empty keys, and keys above 1,978 bytes on pages of 4 KiB. */
const LONGEST_INLINE = 1_900
const PREFIX = 0x6b

/**
 * How keys stand in LMDB: a prefix byte and the key itself; of a long key the first 1,900 bytes and the SHA-256 of the
 * whole, so that it still sorts near its neighbours. A long key stands in full in its record.
 */
export const STORED_KEY_ENCODER = {
  /** Writes into LMDB's own buffer and answers where the key ends. */
  writeKey(key: Uint8Array, target: Uint8Array, position: number): number {
    target[position] = PREFIX
    if (!isLongKey(key)) {
      target.set(key, position + 1)
      return position + 1 + key.length
    }
    target.set(key.subarray(0, LONGEST_INLINE), position + 1)
    target.set(hash('sha256', key, 'buffer'), position + 1 + LONGEST_INLINE)
    return position + 1 + LONGEST_INLINE + 32
  },
  /** The stored form without its prefix: of a short key the key. */
  readKey(source: Uint8Array, start: number, end: number): Uint8Array {
    return source.slice(start + 1, end)
  },
}

/** Whether the record of the key must hold it in full. */
export function isLongKey(key: Uint8Array): boolean {
  return key.length > LONGEST_INLINE
}
