import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'

// Keys are found by their SHA-256: an index entry of PostgreSQL takes up to about 2,700 bytes, a key up to 64 KiB.

export const HASH_BYTES = 32

export function hashKey(key: Uint8Array): Buffer {
  return hash('sha256', key, 'buffer')
}

/**
 * Hash of a key as text, one character for each byte. Such a text is the cheapest key of a `Map`, and sorts like its
 * bytes.
 */
export function keyToHashText(key: Uint8Array): string {
  return hash('sha256', key, 'binary')
}

export function compareHashTexts(a: { readonly hashText: string }, b: { readonly hashText: string }): number {
  return a.hashText < b.hashText ? -1 : a.hashText > b.hashText ? 1 : 0
}

export function hashTextToBytes(hashText: string): Buffer {
  return Buffer.from(hashText, 'latin1')
}
