// `portable-sha3.ts` has the same functions for other runtimes than Node: see `imports` in package.json.
import { Buffer } from 'node:buffer'
import { createHash, hash } from 'node:crypto'

const ALGORITHM = 'sha3-256'

/** The SHA3-256 of bytes. */
export function sha3(bytes: Uint8Array): Uint8Array {
  return hash(ALGORITHM, bytes, 'buffer')
}

/** The SHA3-256 of one part after the other. */
export function sha3OfParts(first: Uint8Array, second: Uint8Array): Uint8Array {
  return createHash(ALGORITHM).update(first).update(second).digest()
}

/** Writes the SHA3-256 of bytes to `target` at an offset. A third of the time of `sha3`, of which most is making a `Buffer`. */
export function sha3Into(bytes: Uint8Array, target: Uint8Array, at: number): void {
  const buffer = Buffer.isBuffer(target) ? target : Buffer.from(target.buffer, target.byteOffset, target.length)
  buffer.write(hash(ALGORITHM, bytes, 'binary'), at, 'latin1')
}
