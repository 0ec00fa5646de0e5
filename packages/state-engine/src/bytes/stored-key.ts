import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'
import { checksum } from './checksum.js'

/** Longest key that is stored whole. LMDB refuses empty keys, and keys above 1,978 bytes on pages of 4 KiB. */
const LONGEST_INLINE = 1_900
const PREFIX = 0x6b
const HASH_LENGTH = 32

/**
 * Encodes a key for LMDB: a prefix byte and the key itself. A long key is stored as its first 1,900 bytes and the
 * SHA-256 of the whole, so that it sorts after every key that its first 1,900 bytes sort after. Its record has the
 * whole key.
 */
export const STORED_KEY_ENCODER = {
  /** Writes a key into a buffer of lmdb-js, and returns the offset of its end. */
  writeKey(key: Uint8Array, target: Uint8Array, position: number): number {
    target[position] = PREFIX
    if (!isLongKey(key)) {
      target.set(key, position + 1)
      return position + 1 + key.length
    }
    target.set(key.subarray(0, LONGEST_INLINE), position + 1)
    target.set(hash('sha256', key, 'buffer'), position + 1 + LONGEST_INLINE)
    return position + 1 + LONGEST_INLINE + HASH_LENGTH
  },
  readKey(): never {
    throw new Error('keys are read in their stored form')
  },
}

/** Whether the stored form has only the beginning of the key. */
export function isLongKey(key: Uint8Array): boolean {
  return key.length > LONGEST_INLINE
}

export function keyToStoredKey(key: Uint8Array): Buffer {
  const stored = Buffer.allocUnsafe(1 + (isLongKey(key) ? LONGEST_INLINE + HASH_LENGTH : key.length))
  return stored.subarray(0, STORED_KEY_ENCODER.writeKey(key, stored, 0))
}

/** Decodes a stored form: the key, or the beginning of a long one. */
export function storedKeyToPrefix(stored: Uint8Array): { beginning: Uint8Array; isWhole: boolean } {
  const isWhole = stored.length <= 1 + LONGEST_INLINE
  return { beginning: stored.subarray(1, 1 + LONGEST_INLINE), isWhole }
}

/** Seed for the checksum of the record of a key. */
export function keySeed(key: Uint8Array): number {
  return checksum(key, 0, Math.min(key.length, LONGEST_INLINE), 0)
}

/** Same as `keySeed`, from the stored form of the key. */
export function storedKeySeed(stored: Uint8Array): number {
  return keySeed(stored.subarray(1))
}

/** Makes a stored key at or below the stored forms of all keys with a prefix. */
export function prefixToStoredStart(prefix: Uint8Array): Buffer {
  return keyToStoredKey(prefix.subarray(0, LONGEST_INLINE))
}

/** Makes a stored key above the stored forms of all keys with a prefix. */
export function prefixToStoredEnd(prefix: Uint8Array): Buffer {
  const end = prefixToStoredStart(prefix)
  let last = end.length - 1
  // The prefix byte is below 0xff, so there is always a byte to raise.
  while (end[last] === 0xff) last--
  end[last]!++
  return end.subarray(0, last + 1)
}
