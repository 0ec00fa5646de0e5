import { createHash } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HASH_FUNCTIONS } from './hashes.js'
import { sipHash } from './sip-hash.js'

const PEERS = [
  ['sha2_256', 'sha256'],
  ['sha2_512', 'sha512'],
  ['sha3_256', 'sha3-256'],
  ['sha3_512', 'sha3-512'],
  ['ripemd160', 'ripemd160'],
] as const

describe('hash functions', () => {
  it.each(PEERS)('%s is that of OpenSSL', (name, peer) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        expect(bytesToHex(HASH_FUNCTIONS[name].hash(bytes))).toBe(createHash(peer).update(bytes).digest('hex'))
      }),
    )
  })

  it('blake2b_256 has the vector of the reference implementation', () => {
    // BLAKE2b-256 of the empty text and of "abc" (b2sum -l 256).
    const { hash } = HASH_FUNCTIONS.blake2b_256
    expect(bytesToHex(hash(new Uint8Array(0)))).toBe('0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8')
    expect(bytesToHex(hash(new TextEncoder().encode('abc')))).toBe(
      'bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319',
    )
  })

  it('keccak256 pads as before FIPS 202', () => {
    expect(HASH_FUNCTIONS.keccak256.hash).toBe(keccak_256)
    expect(bytesToHex(keccak_256(new Uint8Array(0)))).toBe(
      'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
    )
  })
})

const MASK = 2n ** 64n - 1n

/** SipHash-2-4 as its paper has it, over integers. */
function plainSipHash(bytes: Uint8Array): bigint {
  const rotate = (word: bigint, bits: bigint) => ((word << bits) | (word >> (64n - bits))) & MASK
  let [v0, v1, v2, v3] = [0x736f6d6570736575n, 0x646f72616e646f6dn, 0x6c7967656e657261n, 0x7465646279746573n]
  const round = () => {
    v0 = (v0 + v1) & MASK
    v1 = rotate(v1, 13n) ^ v0
    v0 = rotate(v0, 32n)
    v2 = (v2 + v3) & MASK
    v3 = rotate(v3, 16n) ^ v2
    v0 = (v0 + v3) & MASK
    v3 = rotate(v3, 21n) ^ v0
    v2 = (v2 + v1) & MASK
    v1 = rotate(v1, 17n) ^ v2
    v2 = rotate(v2, 32n)
  }
  const padded = new Uint8Array(bytes.length + 8 - (bytes.length % 8))
  padded.set(bytes)
  padded[padded.length - 1] = bytes.length
  const view = new DataView(padded.buffer)
  for (let at = 0; at < padded.length; at += 8) {
    const word = view.getBigUint64(at, true)
    v3 ^= word
    round()
    round()
    v0 ^= word
  }
  v2 ^= 0xffn
  for (let count = 0; count < 4; count++) round()
  return v0 ^ v1 ^ v2 ^ v3
}

describe('sipHash', () => {
  it('is SipHash-2-4 with a key of zeros', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(sipHash(bytes)).toBe(plainSipHash(bytes))
      }),
    )
  })

  it('has the known value of nothing', () => {
    expect(sipHash(hexToBytes(''))).toBe(0x1e924b9d737700d7n)
  })
})
