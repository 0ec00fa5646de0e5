// The primitives behind the natives, compared with libraries that share no code with them.

import { aggregatePublicKeys, aggregateSignatures, PublicKey, SecretKey, Signature, verify } from '@chainsafe/blst'
import { copyBytes } from '@ledger-state/core/bytes'
import { bytesToHex } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { blake2b, keccak } from 'hash-wasm'
import sodium from 'libsodium-wrappers-sumo'
import mcl from 'mcl-wasm'
import { beforeAll, describe, expect, it } from 'vitest'
import { type AlgebraStructure, findAlgebraStructure, PAIRING_CURVES } from './algebra-structures.js'
import {
  aggregateBlsKeys,
  aggregateBlsSignatures,
  isBlsKey,
  isBlsSignature,
  isInBlsSignatureGroup,
} from './bls12381-signatures.js'
import { HASH_FUNCTIONS } from './hashes.js'
import {
  decodeRistretto,
  encodeRistrettoScalar,
  multiplyRistretto,
  RISTRETTO_ORDER,
  ristrettoOfUniformBytes,
} from './ristretto255.js'

const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

/** Whether a library accepts an input. Throwing counts as refusing. */
function isTaken(check: () => unknown): boolean {
  try {
    return check() !== false
  } catch {
    return false
  }
}

/** A copy with one bit changed. */
function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = copyBytes(bytes)
  changed[(bit >> 3) % bytes.length]! ^= 1 << (bit & 7)
  return changed
}

describe('hash functions', () => {
  it.each([
    ['keccak256', (bytes: Uint8Array) => keccak(bytes, 256)],
    ['blake2b_256', (bytes: Uint8Array) => blake2b(bytes, 256)],
  ] as const)('%s is that of hash-wasm', async (name, peer) => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 600 }), async (bytes) => {
        expect(bytesToHex(HASH_FUNCTIONS[name].hash(bytes))).toBe(await peer(bytes))
      }),
    )
  })
})

describe('ristretto255', () => {
  const pointOf = (uniform: Uint8Array) => sodium.crypto_core_ristretto255_from_hash(uniform)
  const scalars = fc.bigInt({ min: 1n, max: RISTRETTO_ORDER - 1n })
  beforeAll(() => sodium.ready)

  it('derives the points of libsodium', () => {
    fc.assert(
      fc.property(bytesOf(64), (uniform) => {
        expect(ristrettoOfUniformBytes(uniform).toBytes()).toEqual(pointOf(uniform))
      }),
    )
  })

  it('adds, subtracts and multiplies as libsodium does', () => {
    fc.assert(
      fc.property(bytesOf(64), bytesOf(64), scalars, (one, other, scalar) => {
        const [left, right] = [pointOf(one), pointOf(other)]
        const [p, q] = [decodeRistretto(left)!, decodeRistretto(right)!]
        expect(p.add(q).toBytes()).toEqual(sodium.crypto_core_ristretto255_add(left, right))
        expect(p.subtract(q).toBytes()).toEqual(sodium.crypto_core_ristretto255_sub(left, right))
        const bytes = encodeRistrettoScalar(scalar)
        expect(multiplyRistretto([left], [bytes])).toEqual(sodium.crypto_scalarmult_ristretto255(bytes, left))
      }),
      { numRuns: 40 },
    )
  })

  it('takes the encodings that libsodium takes', () => {
    fc.assert(
      fc.property(bytesOf(64), fc.nat(255), bytesOf(32), (uniform, bit, noise) => {
        const point = pointOf(uniform)
        for (const bytes of [point, flip(point, bit), noise]) {
          const taken = sodium.crypto_core_ristretto255_is_valid_point(bytes)
          expect(decodeRistretto(bytes) !== undefined).toBe(taken)
        }
      }),
    )
  })

  it('reduces scalars as libsodium does', () => {
    fc.assert(
      fc.property(bytesOf(64), (wide) => {
        const value = BigInt(`0x${bytesToHex(copyBytes(wide).reverse())}`)
        expect(encodeRistrettoScalar(value)).toEqual(sodium.crypto_core_ristretto255_scalar_reduce(wide))
      }),
    )
  })
})

describe('bls12381 signatures', () => {
  const seeds = bytesOf(32)
  const messages = fc.uint8Array({ maxLength: 80 })

  it('are accepted and refused as by blst', () => {
    fc.assert(
      fc.property(seeds, messages, fc.nat(767), (seed, message, bit) => {
        const secret = SecretKey.fromKeygen(seed)
        const publicKey = secret.toPublicKey()
        const key = publicKey.toBytes()
        const signature = secret.sign(message).toBytes()
        for (const bytes of [signature, flip(signature, bit)]) {
          const taken = isTaken(() => verify(message, publicKey, Signature.fromBytes(bytes, true)))
          expect(isBlsSignature(bytes, key, message, true)).toBe(taken)
        }
      }),
      { numRuns: 10 },
    )
  })

  it('have the keys and points that blst takes', () => {
    fc.assert(
      fc.property(seeds, fc.nat(767), (seed, bit) => {
        const secret = SecretKey.fromKeygen(seed)
        for (const key of [secret.toPublicKey().toBytes(), flip(secret.toPublicKey().toBytes(), bit)]) {
          expect(isBlsKey(key)).toBe(isTaken(() => PublicKey.fromBytes(key, true)))
        }
        const signature = secret.sign(seed).toBytes()
        for (const bytes of [signature, flip(signature, bit)]) {
          expect(isInBlsSignatureGroup(bytes)).toBe(isTaken(() => Signature.fromBytes(bytes, true, true)))
        }
      }),
      { numRuns: 20 },
    )
  })

  it('have the sums of blst', () => {
    fc.assert(
      fc.property(fc.array(seeds, { minLength: 1, maxLength: 5 }), (all) => {
        const secrets = all.map((seed) => SecretKey.fromKeygen(seed))
        const keys = secrets.map((secret) => secret.toPublicKey())
        const signatures = secrets.map((secret) => secret.sign(all[0]!))
        expect(aggregateBlsKeys(keys.map((key) => key.toBytes()))).toEqual(
          Uint8Array.from(aggregatePublicKeys(keys).toBytes()),
        )
        expect(aggregateBlsSignatures(signatures.map((one) => one.toBytes()))).toEqual(
          Uint8Array.from(aggregateSignatures(signatures).toBytes()),
        )
      }),
      { numRuns: 10 },
    )
  })
})

/** Coefficients of an element in the order in which mcl writes them: the constant ones first. */
const numbersOf = (element: unknown): bigint[] =>
  typeof element === 'bigint' ? [element] : Object.values(element as object).flatMap(numbersOf)

describe.each([
  ['bls12381', mcl.BLS12_381],
  ['bn254', mcl.BN_SNARK1],
] as const)('crypto_algebra over %s', (curve, number) => {
  const structure = (name: string): AlgebraStructure<unknown> => findAlgebraStructure(`${curve} ${name}`)!
  const { g1, g2, gt, pair } = PAIRING_CURVES[curve]
  const scalars = fc.bigInt({ min: 1n, max: g1.order - 1n })
  beforeAll(() => mcl.init(number))

  const field = (value: bigint) => {
    const element = new mcl.Fr()
    element.setStr(String(value))
    return element
  }
  /** The point of mcl with these coordinates. */
  function pointOf<Point extends { setStr(text: string): void }>(
    point: Point,
    affine: { x: unknown; y: unknown },
  ): Point {
    point.setStr(['1', ...numbersOf(affine.x), ...numbersOf(affine.y)].join(' '))
    return point
  }
  const toG1 = (scalar: bigint) => g1.group!.scale(g1.one(), scalar)
  const toG2 = (scalar: bigint) => g2.group!.scale(g2.one(), scalar)
  const mclG1 = (scalar: bigint) => pointOf(new mcl.G1(), toG1(scalar).toAffine())
  const mclG2 = (scalar: bigint) => pointOf(new mcl.G2(), toG2(scalar).toAffine())
  const textOf = (point: { toAffine(): { x: unknown; y: unknown } }) => {
    const { x, y } = point.toAffine()
    const coordinates = [...numbersOf(x), ...numbersOf(y)]
    // Noble writes the point at infinity as (0, 0), which is not on any of these curves.
    return coordinates.every((number) => number === 0n) ? '0' : ['1', ...coordinates].join(' ')
  }

  it('computes in the field of scalars as mcl does', () => {
    const fr = structure('Fr') as AlgebraStructure<bigint>
    fc.assert(
      fc.property(scalars, scalars, (left, right) => {
        const [a, b] = [field(left), field(right)]
        expect(String(fr.add(left, right))).toBe(mcl.add(a, b).getStr())
        expect(String(fr.subtract(left, right))).toBe(mcl.sub(a, b).getStr())
        expect(String(fr.field!.multiply(left, right))).toBe(mcl.mul(a, b).getStr())
        expect(String(fr.field!.invert(left))).toBe(mcl.inv(a).getStr())
        expect(String(fr.negate(left))).toBe(mcl.neg(a).getStr())
      }),
    )
  })

  it('adds, negates, doubles and scales points as mcl does', () => {
    fc.assert(
      fc.property(scalars, scalars, scalars, (one, other, scalar) => {
        const [p, q] = [mclG1(one), mclG1(other)]
        expect(textOf(g1.add(toG1(one), toG1(other)))).toBe(mcl.add(p, q).getStr(10))
        expect(textOf(g1.double(toG1(one)))).toBe(mcl.dbl(p).getStr(10))
        expect(textOf(g1.negate(toG1(one)))).toBe(mcl.neg(p).getStr(10))
        expect(textOf(g1.group!.scale(toG1(one), scalar))).toBe(mcl.mul(p, field(scalar)).getStr(10))
        const [r, s] = [mclG2(one), mclG2(other)]
        expect(textOf(g2.add(toG2(one), toG2(other)))).toBe(mcl.add(r, s).getStr(10))
        expect(textOf(g2.double(toG2(one)))).toBe(mcl.dbl(r).getStr(10))
        expect(textOf(g2.negate(toG2(one)))).toBe(mcl.neg(r).getStr(10))
        expect(textOf(g2.group!.scale(toG2(one), scalar))).toBe(mcl.mul(r, field(scalar)).getStr(10))
      }),
      { numRuns: 5 },
    )
  })

  it('pairs as mcl does, and multiplies, inverts and scales the results', () => {
    fc.assert(
      fc.property(scalars, scalars, scalars, (one, other, scalar) => {
        const ours = pair([toG1(one)], [toG2(other)])
        const theirs = mcl.pairing(mclG1(one), mclG2(other))
        const text = (element: unknown) => numbersOf(element).join(' ')
        expect(text(ours)).toBe(theirs.getStr(10))
        expect(text(gt.add(ours, ours))).toBe(mcl.mul(theirs, theirs).getStr(10))
        expect(text(gt.negate(ours))).toBe(mcl.inv(theirs).getStr(10))
        expect(text(gt.group!.scale(ours, scalar))).toBe(mcl.pow(theirs, field(scalar)).getStr(10))
      }),
      { numRuns: 2 },
    )
  })
})
