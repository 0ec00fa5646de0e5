import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'

// Keys are found by their SHA-256: index entries of PostgreSQL end near 2,700 bytes, keys at 64 KiB.

export const HASH_BYTES = 32

export function hashKey(key: Uint8Array): Buffer {
  return hash('sha256', key, 'buffer')
}

/** The hash of a key, one character a byte: such a text is the cheapest key of a `Map`, and is sorted as its bytes are. */
export function keyToHashText(key: Uint8Array): string {
  return hash('sha256', key, 'binary')
}

export function compareHashTexts(a: { readonly hashText: string }, b: { readonly hashText: string }): number {
  return a.hashText < b.hashText ? -1 : a.hashText > b.hashText ? 1 : 0
}

export function hashTextToBytes(hashText: string): Buffer {
  return Buffer.from(hashText, 'latin1')
}
