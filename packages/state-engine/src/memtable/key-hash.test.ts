import { Buffer } from 'node:buffer'
import { expect, it } from 'vitest'
import { KeyHash } from './key-hash.js'

it('the hash of a key is HalfSipHash-1-3', () => {
  const hash = new KeyHash(Buffer.from([0, 1, 2, 3, 4, 5, 6, 7]))
  const bytes = Buffer.from(Array.from({ length: 20_000 }, (_, at) => at))
  for (const length of [...Array(64).keys(), 4_095, 4_096, 4_097, 15_001]) {
    expect(hash.of(bytes, 5, 5 + length)).toBe(halfSipHash13(0x0302_0100, 0x0706_0504, bytes.subarray(5, 5 + length)))
  }
})

it('the hash of a key differs from process to process', () => {
  expect(new KeyHash().of(Buffer.from('a key'), 0, 5)).not.toBe(new KeyHash().of(Buffer.from('a key'), 0, 5))
})

/** The hash as in the reference implementation, with numbers of any length. */
function halfSipHash13(k0: number, k1: number, bytes: Buffer): number {
  const mask = 0xffff_ffffn
  const rotate = (x: bigint, by: bigint) => ((x << by) | (x >> (32n - by))) & mask
  let [v0, v1, v2, v3] = [BigInt(k0), BigInt(k1), 0x6c79_6765n ^ BigInt(k0), 0x7465_6462n ^ BigInt(k1)]
  const round = () => {
    v0 = (v0 + v1) & mask
    v1 = rotate(v1, 5n) ^ v0
    v0 = rotate(v0, 16n)
    v2 = (v2 + v3) & mask
    v3 = rotate(v3, 8n) ^ v2
    v0 = (v0 + v3) & mask
    v3 = rotate(v3, 7n) ^ v0
    v2 = (v2 + v1) & mask
    v1 = rotate(v1, 13n) ^ v2
    v2 = rotate(v2, 16n)
  }
  const padded = Buffer.alloc((bytes.length >> 2) * 4 + 4)
  bytes.copy(padded)
  padded[padded.length - 1] = bytes.length
  for (let at = 0; at < padded.length; at += 4) {
    const word = BigInt(padded.readUInt32LE(at))
    v3 ^= word
    round()
    v0 ^= word
  }
  v2 ^= 0xffn
  for (let times = 0; times < 3; times++) round()
  return Number(BigInt.asIntN(32, v1 ^ v3))
}
