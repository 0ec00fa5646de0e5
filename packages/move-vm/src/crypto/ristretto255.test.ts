import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeRistretto,
  encodeRistrettoScalar,
  multiplyRistretto,
  RISTRETTO,
  RISTRETTO_ORDER,
  ristrettoOfSha512,
} from './ristretto255.js'

describe('ristretto255', () => {
  it('has the multiples of the generator of RFC 9496', () => {
    const multiples = [
      '0000000000000000000000000000000000000000000000000000000000000000',
      'e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76',
      '6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919',
      '94741f5d5d52755ece4f23f044ee27d5d1ea1e2bd196b462166b16152a9d0259',
    ]
    multiples.forEach((expected, factor) => {
      const scalar = encodeRistrettoScalar(BigInt(factor))
      expect(bytesToHex(multiplyRistretto([RISTRETTO.BASE.toBytes()], [scalar]))).toBe(expected)
      expect(decodeRistretto(hexToBytes(expected))).toBeDefined()
    })
  })

  it('refuses the encodings that RFC 9496 calls bad', () => {
    const bad = [
      '00ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
      'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
      '0100000000000000000000000000000000000000000000000000000000000000',
      '26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371',
    ]
    expect(bad.map((digits) => decodeRistretto(hexToBytes(digits)))).toEqual(bad.map(() => undefined))
    expect(decodeRistretto(new Uint8Array(31))).toBeUndefined()
  })

  it('derives the element of the first text of RFC 9496', () => {
    const text = new TextEncoder().encode('Ristretto is traditionally a short shot of espresso coffee')
    expect(bytesToHex(ristrettoOfSha512(text).toBytes())).toBe(
      '3066f82a1a747d45120d1740f14358531a8f04bbffe6a819f86dfe50f44a0a46',
    )
  })

  it.each([0, 1, 6, 7, 40])('adds %i products', (count) => {
    const factors = Array.from({ length: count }, (_, at) => (at === 3 ? 0n : BigInt(at + 1) << BigInt(6 * at)))
    const points = factors.map((_, at) => RISTRETTO.BASE.multiply(BigInt(at + 2)).toBytes())
    const sum = factors.reduce((all, factor, at) => all + factor * BigInt(at + 2), 0n)
    const expected = multiplyRistretto([RISTRETTO.BASE.toBytes()], [encodeRistrettoScalar(sum)])
    expect(multiplyRistretto(points, factors.map(encodeRistrettoScalar))).toEqual(expected)
  })

  it('reduces scalars, also negative ones', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 512n), max: 2n ** 512n }), (value) => {
        const scalar = encodeRistrettoScalar(value)
        const read = BigInt(`0x${bytesToHex(scalar.toReversed())}`)
        expect(read < RISTRETTO_ORDER && (read - value) % RISTRETTO_ORDER === 0n).toBe(true)
      }),
    )
  })
})
