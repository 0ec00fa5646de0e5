import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'

/** Of SHA-256. */
export const HASH_BYTES = 32

/** The hash by which a key is found, one character a byte: such a text is the cheapest key of a `Map`, and is sorted as its bytes are. */
export function hashToText(key: Uint8Array): string {
  return hash('sha256', key, 'binary')
}

export function compareHashTexts(a: { readonly hashText: string }, b: { readonly hashText: string }): number {
  return a.hashText < b.hashText ? -1 : a.hashText > b.hashText ? 1 : 0
}

export function hashTextToBytes(hashText: string): Buffer {
  return Buffer.from(hashText, 'latin1')
}
