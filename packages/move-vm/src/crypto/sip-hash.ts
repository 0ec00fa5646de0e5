const ROUNDS_PER_WORD = 2
const ROUNDS_AT_THE_END = 4

/** SipHash-2-4 with both halves of the key 0, of any number of bytes, as a number below 2^64. */
export function sipHash(bytes: Uint8Array): bigint {
  const hash = new SipHash(bytes)
  hash.advance(bytes.length)
  return hash.end()
}

/** A hash that is worked out in pieces. */
export class SipHash {
  readonly #bytes: Uint8Array
  /** Four words of 64 bits, each as its lower half, then its upper half. */
  readonly #v = Int32Array.of(
    0x70736575,
    0x736f6d65,
    0x6e646f6d,
    0x646f7261,
    0x6e657261,
    0x6c796765,
    0x79746573,
    0x74656462,
  )
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Hashes about the next `count` bytes. Returns whether `end` may follow. */
  advance(count: number): boolean {
    const bytes = this.#bytes
    const whole = bytes.length - (bytes.length % 8)
    const end = Math.min(whole, this.#at + count)
    for (; this.#at < end; this.#at += 8) compress(this.#v, word32(bytes, this.#at), word32(bytes, this.#at + 4))
    return this.#at === whole
  }

  end(): bigint {
    const bytes = this.#bytes
    const v = this.#v
    compress(v, word32(bytes, this.#at), word32(bytes, this.#at + 4) | (bytes.length << 24))
    v[4]! ^= 0xff
    for (let round = 0; round < ROUNDS_AT_THE_END; round++) mix(v)
    const low = (v[0]! ^ v[2]! ^ v[4]! ^ v[6]!) >>> 0
    const high = (v[1]! ^ v[3]! ^ v[5]! ^ v[7]!) >>> 0
    return (BigInt(high) << 32n) | BigInt(low)
  }
}

/** Four bytes, little-endian; bytes beyond the end count as 0. */
function word32(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)
}

function compress(v: Int32Array, low: number, high: number): void {
  v[6]! ^= low
  v[7]! ^= high
  for (let round = 0; round < ROUNDS_PER_WORD; round++) mix(v)
  v[0]! ^= low
  v[1]! ^= high
}

function mix(v: Int32Array): void {
  add(v, 0, 2)
  rotate(v, 2, 13)
  xor(v, 2, 0)
  rotate(v, 0, 32)
  add(v, 4, 6)
  rotate(v, 6, 16)
  xor(v, 6, 4)
  add(v, 0, 6)
  rotate(v, 6, 21)
  xor(v, 6, 0)
  add(v, 4, 2)
  rotate(v, 2, 17)
  xor(v, 2, 4)
  rotate(v, 4, 32)
}

function add(v: Int32Array, to: number, from: number): void {
  const low = (v[to]! >>> 0) + (v[from]! >>> 0)
  v[to] = low
  v[to + 1] = v[to + 1]! + v[from + 1]! + (low > 0xffff_ffff ? 1 : 0)
}

function xor(v: Int32Array, to: number, from: number): void {
  v[to]! ^= v[from]!
  v[to + 1]! ^= v[from + 1]!
}

function rotate(v: Int32Array, at: number, bits: number): void {
  const low = v[at]!
  const high = v[at + 1]!
  if (bits === 32) {
    v[at] = high
    v[at + 1] = low
    return
  }
  v[at] = (low << bits) | (high >>> (32 - bits))
  v[at + 1] = (high << bits) | (low >>> (32 - bits))
}
