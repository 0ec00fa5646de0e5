import { Buffer } from 'node:buffer'

/** The same bytes as a `Buffer`, without a copy. */
export function viewAsBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}
