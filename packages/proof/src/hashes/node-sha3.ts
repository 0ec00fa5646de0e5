// SHA3 by Node. `portable-sha3.ts` has the same functions for other runtimes: see `imports` in package.json.
import { createHash, hash } from 'node:crypto'

const ALGORITHM = 'sha3-256'
const DIGEST_LENGTH = 32

/** The SHA3-256 of bytes. */
export function sha3(bytes: Uint8Array): Uint8Array {
  const digest = new Uint8Array(DIGEST_LENGTH)
  sha3Into(bytes, digest, 0)
  return digest
}

/** SHA3-256 of two parts, one after the other. */
export function sha3OfParts(first: Uint8Array, second: Uint8Array): Uint8Array {
  return createHash(ALGORITHM).update(first).update(second).digest()
}

/**
 * Writes the SHA3-256 of bytes to `target` at an offset. A text takes half of the time of a `Buffer`, which Node.js
 * makes for each hash.
 */
export function sha3Into(bytes: Uint8Array, target: Uint8Array, at: number): void {
  const text = hash(ALGORITHM, bytes, 'binary')
  for (let index = 0; index < text.length; index++) target[at + index] = text.charCodeAt(index)
}

/** SHA3-256 of bytes that come in pieces. */
export interface RunningSha3 {
  update(bytes: Uint8Array): void
  /** The hash of all bytes so far. More may follow. */
  digest(): Uint8Array
}

/** Begins a SHA3-256 hash of bytes that come in parts. */
export function beginSha3(): RunningSha3 {
  const running = createHash(ALGORITHM)
  return { update: (bytes) => void running.update(bytes), digest: () => running.copy().digest() }
}
