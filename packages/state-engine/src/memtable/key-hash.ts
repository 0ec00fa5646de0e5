import { randomBytes } from 'node:crypto'
import { KeyBuffer } from '../bytes/key-buffer.js'

const FIRST_BYTES = 4_096

/**
 * HalfSipHash-1-3 with a separate secret for each process: clients choose keys, and must not be able to choose many
 * that share a slot of the hash table. https://github.com/veorq/SipHash
 */
export class KeyHash {
  readonly #key0: number
  readonly #key1: number
  // To copy a key to words takes half the time of reading its bytes one by one, also for short keys.
  readonly #copy = new KeyBuffer(FIRST_BYTES)
  #second = 0

  /** Makes a hash with a secret of 8 bytes. */
  constructor(secret: Buffer = randomBytes(8)) {
    this.#key0 = secret.readInt32LE(0)
    this.#key1 = secret.readInt32LE(4)
  }

  /** Hashes a part of some bytes: a signed integer of 32 bits. */
  of(bytes: Uint8Array, start: number, end: number): number {
    this.#copy.take(bytes, start, end)
    return this.ofKey(this.#copy)
  }

  /** Hashes a key: a signed integer of 32 bits. */
  ofKey({ words, length }: KeyBuffer): number {
    const last = length >> 2
    let v0 = this.#key0 | 0
    let v1 = this.#key1 | 0
    let v2 = 0x6c79_6765 ^ v0
    let v3 = 0x7465_6462 ^ v1
    for (let at = 0; at <= last; at++) {
      // The last word has the bytes that are left, and the length in its highest byte.
      const word = at < last ? words[at]! : words[at]! | (length << 24)
      v3 ^= word
      // One round.
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= word
    }
    v2 ^= 0xff
    for (let round = 0; round < 3; round++) {
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
    }
    this.#second = v0 ^ v2
    return v1 ^ v3
  }

  /** Another 32 bits of the last hash. */
  get second(): number {
    return this.#second
  }
}
