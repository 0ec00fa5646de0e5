// `portable-sha3-256.ts` has the same function for other runtimes than Node: see `imports` in package.json.
import { hash } from 'node:crypto'

/** The SHA3-256 of bytes. */
export function sha3Of(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(hash('sha3-256', bytes, 'buffer'))
}
