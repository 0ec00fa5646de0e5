// SHA3 in JavaScript for runtimes other than Node: their Web Cryptography API lacks it.
import { sha3_256 as sha3 } from '@noble/hashes/sha3.js'

export { sha3 }

/** SHA3-256 of two parts, one after the other. */
export function sha3OfParts(first: Uint8Array, second: Uint8Array): Uint8Array {
  return sha3.create().update(first).update(second).digest()
}

/** Writes the SHA3-256 of bytes to `target` at an offset. */
export function sha3Into(bytes: Uint8Array, target: Uint8Array, at: number): void {
  target.set(sha3(bytes), at)
}

/** SHA3-256 of bytes that come in pieces. */
export interface RunningSha3 {
  update(bytes: Uint8Array): void
  /** The hash of all bytes so far. More may follow. */
  digest(): Uint8Array
}

/** Begins a SHA3-256 hash of bytes that come in parts. */
export function beginSha3(): RunningSha3 {
  const running = sha3.create()
  return { update: (bytes) => void running.update(bytes), digest: () => running.clone().digest() }
}
