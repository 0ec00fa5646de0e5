// SHA3-256 on Node. `portable-sha3-256.ts` has the same functions for other runtimes; `imports` in package.json
// chooses.
import { createHash, hash } from 'node:crypto'

/** The SHA3-256 of bytes. */
export function sha3Of(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(hash('sha3-256', bytes, 'buffer'))
}

/** A SHA3-256 that is computed piece by piece. */
export interface Sha3 {
  update(bytes: Uint8Array): Sha3
  digest(): Uint8Array
}

/** Begins a SHA3-256 that is computed piece by piece. */
export function createSha3(): Sha3 {
  const inner = createHash('sha3-256')
  const hash: Sha3 = {
    update(bytes) {
      inner.update(bytes)
      return hash
    },
    digest: () => new Uint8Array(inner.digest()),
  }
  return hash
}
