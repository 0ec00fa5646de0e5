import { createHash } from 'node:crypto'
import { copyBytes } from '@ledger-state/core/bytes'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AlgebraStructure, findAlgebraStructure, PAIRING_CURVES } from './algebra-structures.js'
import { hashToGroup } from './hash-to-curve.js'

const CURVES = ['bls12381', 'bn254'] as const

function structure(name: string): AlgebraStructure<unknown> {
  return findAlgebraStructure(name)!
}

/** The element of a structure that belongs to a seed. */
function elementOf({ field, group, one }: AlgebraStructure<unknown>, seed: bigint): unknown {
  return field ? field.square(field.fromInteger(seed)) : group!.scale(one(), seed)
}

const seeds = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n })
const NAMES = [
  ...['Fr', 'Fq12', 'G1', 'G2', 'Gt'].map((name) => `bls12381 ${name}`),
  ...['Fr', 'Fq', 'Fq12', 'G1', 'G2', 'Gt'].map((name) => `bn254 ${name}`),
]

describe.each(NAMES)('the structure %s', (name) => {
  const one = structure(name)

  it('writes each element in each format so that it reads it again', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const element = elementOf(one, seed)
        for (const format of [...one.formats.values(), one.transport]) {
          for (const written of [element, one.zero, one.one()]) {
            const bytes = format.encode(written)
            expect(one.isEqual(format.decode(bytes)!, written)).toBe(true)
            expect(format.decode(bytes.subarray(1))).toBeUndefined()
          }
        }
      }),
      { numRuns: 1 },
    )
  })

  it('rejects damaged bytes, or reads an element that it writes as these bytes', () => {
    const formats = [...one.formats.values()]
    fc.assert(
      fc.property(seeds, fc.nat(), fc.nat(formats.length - 1), (seed, at, chosen) => {
        const format = formats[chosen]!
        const bytes = copyBytes(format.encode(elementOf(one, seed)))
        bytes[at % bytes.length]! ^= 1 << (at % 8)
        const element = format.decode(bytes)
        // Readers ignore the bytes after the flag of the point at infinity, and the sign of an uncompressed point of
        // BN254.
        if (element === undefined || one.isEqual(element, one.zero)) return
        expect(one.isEqual(format.decode(format.encode(element))!, element)).toBe(true)
      }),
      { numRuns: 3 },
    )
  })

  it('has the laws of a group', () => {
    fc.assert(
      fc.property(seeds, seeds, (first, second) => {
        const a = elementOf(one, first)
        const b = elementOf(one, second)
        expect(one.isEqual(one.add(a, b), one.add(b, a))).toBe(true)
        expect(one.isEqual(one.subtract(one.add(a, b), b), a)).toBe(true)
        expect(one.isEqual(one.add(a, one.negate(a)), one.zero)).toBe(true)
        expect(one.isEqual(one.double(a), one.add(a, a))).toBe(true)
        if (one.group) {
          expect(one.isEqual(one.group.scale(a, 3n), one.add(one.double(a), a))).toBe(true)
          const sum = one.group.scaleAll?.([a, b], [5n, 0n])
          expect(sum === undefined || one.isEqual(sum, one.group.scale(a, 5n))).toBe(true)
        } else {
          const { field } = one
          expect(one.isEqual(field!.multiply(a, field!.invert(a)!), one.one())).toBe(true)
          expect(field!.invert(one.zero)).toBeUndefined()
          expect(one.isEqual(field!.fromInteger(2n), one.double(one.one()))).toBe(true)
        }
      }),
      { numRuns: 1 },
    )
  })
})

describe.each(CURVES)('the pairing of %s', (name) => {
  const { g1, g2, gt, pair } = PAIRING_CURVES[name]

  it('is bilinear, and adds nothing for a point at infinity', () => {
    const [p, q] = [g1.one(), g2.one()]
    const five = pair([g1.group!.scale(p, 5n)], [q])
    expect(gt.isEqual(five, gt.group!.scale(gt.one(), 5n))).toBe(true)
    expect(gt.isEqual(pair([p, g1.zero, g1.double(p)], [q, q, g2.double(q)]), five)).toBe(true)
    expect(gt.isEqual(pair([], []), gt.zero)).toBe(true)
    expect(gt.isEqual(pair([p, p], [q, g2.negate(q)]), gt.zero)).toBe(true)
  })

  it('refuses elements of Fq12 that are not in Gt', () => {
    const fq12 = structure(`${name} Fq12`)
    const outside = fq12.formats.get('FormatFq12LscLsb')!.encode(fq12.field!.fromInteger(7n))
    expect(gt.formats.get('FormatGt')!.decode(outside)).toBeUndefined()
  })
})

describe('the encoding', () => {
  const encoded = (name: string, format: string) =>
    bytesToHex(structure(name).formats.get(format)!.encode(structure(name).one()))

  it('of each generator matches arkworks', () => {
    // Digests of e(g1, g2) as the reference implementation writes it.
    const digest = (name: string) =>
      createHash('sha256')
        .update(hexToBytes(encoded(name, 'FormatGt')))
        .digest('hex')
    expect(digest('bls12381 Gt')).toBe('ff9912603bb02b77bc6ec1deaeddf9d1fee40ac17a781fb13c9c6e7a9f74d22b')
    expect(digest('bn254 Gt')).toBe('e109983de6d3ff0d8d4e1236dd4d91d2a313d7e7a22e3a15062b6759ad70331c')
    expect(encoded('bn254 G1', 'FormatG1Uncompr')).toBe(`01${'00'.repeat(31)}02${'00'.repeat(31)}`)
    expect(encoded('bn254 G1', 'FormatG1Compr')).toBe(`01${'00'.repeat(31)}`)
    expect(encoded('bn254 G2', 'FormatG2Compr')).toBe(
      'edf692d95cbdde46ddda5ef7d422436779445c5e66006a42761e1f12efde0018c212f3aeb785e49712e7a9353349aaf1255dfb31b7bf60723a480d9293938e19',
    )
    expect(encoded('bls12381 G1', 'FormatG1Compr')).toBe(
      '97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb',
    )
    expect(encoded('bls12381 G2', 'FormatG2Compr')).toBe(
      '93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8',
    )
  })

  it('of a negated point has the flag of the larger y', () => {
    const g1 = structure('bn254 G1')
    const negated = g1.formats.get('FormatG1Compr')!.encode(g1.negate(g1.one()))
    expect([negated[0], negated[31]]).toEqual([1, 0x80])
    const infinity = g1.formats.get('FormatG1Compr')!.encode(g1.zero)
    expect(bytesToHex(infinity)).toBe(`${'00'.repeat(31)}40`)
  })

  it('of a hash to the curve matches RFC 9380', () => {
    const tag = new TextEncoder().encode('QUUX-V01-CS02-with-BLS12381G1_XMD:SHA-256_SSWU_RO_')
    const g1 = structure('bls12381 G1')
    const bytes = g1.formats.get('FormatG1Uncompr')!.encode(g1.group!.hashTo!(tag, new TextEncoder().encode('abc')))
    expect(bytesToHex(bytes.subarray(0, 48))).toBe(
      '03567bc5ef9c690c2ab2ecdf6a96ef1c139cc0b2f284dca0a9a7943388a49a3aee664ba5379a7655d3c68900be2f6903',
    )
  })

  it('of a hash to the curve matches the library, even with an empty tag', () => {
    const { G1, G2 } = bls12_381
    const message = new TextEncoder().encode('a message')
    const tag = new TextEncoder().encode('a tag')
    expect(hashToGroup(G1, 1, tag, message).equals(G1.hashToCurve(message, { DST: tag }))).toBe(true)
    expect(hashToGroup(G2, 2, tag, message).equals(G2.hashToCurve(message, { DST: tag }))).toBe(true)
    const g2 = structure('bls12381 G2')
    expect(g2.isEqual(g2.group!.hashTo!(new Uint8Array(0), message), g2.zero)).toBe(false)
  })
})
