import { Buffer } from 'node:buffer'

/** A key as a text that maps are keyed by: one character a byte, in the order of the bytes. */
export function keyToText(key: Uint8Array): string {
  return Buffer.prototype.latin1Slice.call(key, 0, key.length)
}
