import { Buffer } from 'node:buffer'
import {
  type Bls,
  createPortableBls,
  PUBLIC_KEY_LENGTH,
  SIGNATURE_LENGTH,
  type SignedStatement,
} from '@ledger-state/proof'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadNativeBls } from './native-bls.js'

const { longSignatures, G1, G2, fields } = bls12_381
const SUITE = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_'

const native = await loadNativeBls()
const implementations: [string, Bls][] = [['JavaScript', createPortableBls()]]
if (native) implementations.push(['blst', native])

const secrets = [7n, 11n, 13n, 123_456_789n]
const keyOf = (secret: bigint) => G1.Point.BASE.multiply(secret).toBytes()

/** A signature of all signers over a message. */
function sign(text: string, signers: readonly bigint[], suite = SUITE): SignedStatement {
  const message = Buffer.from(text)
  const sum = fields.Fr.create(signers.reduce((a, b) => a + b, 0n))
  const signature = longSignatures.hash(message, suite).multiply(sum).toBytes()
  return { message, publicKeys: signers.map(keyOf), signature }
}

const infinity = (length: number) => Uint8Array.from({ length }, (_, at) => (at === 0 ? 0xc0 : 0))

/** The point with the smallest x on the curve that is not in the subgroup. */
function outsideSubgroup(group: typeof G1 | typeof G2, length: number): Uint8Array {
  for (let x = 1; ; x++) {
    const bytes = new Uint8Array(length)
    bytes[0] = 0x80
    bytes[length - 1] = x
    try {
      group.Point.fromBytes(bytes)
    } catch (error) {
      if (/subgroup|torsion|prime/i.test(String(error))) return bytes
    }
  }
}

it('the verification of signatures is tested with blst on the platforms that it is built for', () => {
  expect(native !== undefined || process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)).toBe(true)
})

describe.each(implementations)('BLS by %s', (_name, bls) => {
  it('verifies an aggregate of one, and of many', () => {
    expect(bls.verifyAll([sign('a message', [7n])])).toBe(true)
    expect(bls.verifyAll([sign('a message', secrets)])).toBe(true)
  })

  it('verifies statements of different signers together', () => {
    expect(bls.verifyAll([])).toBe(true)
    expect(bls.verifyAll([sign('one', [7n, 11n]), sign('two', [13n]), sign('three', secrets)])).toBe(true)
  })

  it('refuses statements if one of them is false', () => {
    const swapped = { ...sign('two', [13n]), signature: sign('other', [13n]).signature }
    expect(bls.verifyAll([sign('one', [7n, 11n]), swapped, sign('three', secrets)])).toBe(false)
  })

  it('refuses another message, another signer, a missing signer', () => {
    const statement = sign('a message', [7n, 11n])
    expect(bls.verifyAll([{ ...statement, message: Buffer.from('a massage') }])).toBe(false)
    expect(bls.verifyAll([{ ...statement, publicKeys: [keyOf(7n), keyOf(13n)] }])).toBe(false)
    expect(bls.verifyAll([{ ...statement, publicKeys: [keyOf(7n)] }])).toBe(false)
  })

  it('refuses a signature of another suite', () => {
    expect(bls.verifyAll([sign('a message', [7n], SUITE.replace('_POP_', '_NUL_'))])).toBe(false)
  })

  it('refuses infinity as a key, as a sum of keys, and as a signature', () => {
    const statement = sign('a message', [7n])
    expect(bls.verifyAll([{ ...statement, publicKeys: [keyOf(7n), infinity(PUBLIC_KEY_LENGTH)] }])).toBe(false)
    expect(bls.verifyAll([{ ...statement, publicKeys: [infinity(PUBLIC_KEY_LENGTH)] }])).toBe(false)
    expect(bls.verifyAll([{ ...statement, signature: infinity(SIGNATURE_LENGTH) }])).toBe(false)
    const opposite = G1.Point.BASE.multiply(7n).negate().toBytes()
    const nothing = { message: statement.message, publicKeys: [keyOf(7n), opposite] }
    expect(bls.verifyAll([{ ...nothing, signature: infinity(SIGNATURE_LENGTH) }])).toBe(false)
    expect(bls.verifyAll([{ ...nothing, signature: statement.signature }])).toBe(false)
  })

  it('refuses points outside of the subgroups', () => {
    const statement = sign('a message', [7n])
    const key = outsideSubgroup(G1, PUBLIC_KEY_LENGTH)
    const signature = outsideSubgroup(G2, SIGNATURE_LENGTH)
    expect(bls.verifyAll([{ ...statement, publicKeys: [key] }])).toBe(false)
    expect(bls.verifyAll([{ ...statement, publicKeys: [keyOf(7n), key] }])).toBe(false)
    expect(bls.verifyAll([{ ...statement, signature }])).toBe(false)
  })

  it('refuses uncompressed points and other lengths', () => {
    const statement = sign('a message', [7n])
    const key = G1.Point.BASE.multiply(7n).toBytes(false)
    const signature = G2.Point.fromBytes(statement.signature).toBytes(false)
    expect(bls.verifyAll([{ ...statement, publicKeys: [key] }])).toBe(false)
    expect(bls.verifyAll([{ ...statement, signature }])).toBe(false)
    expect(bls.verifyAll([{ ...statement, publicKeys: [keyOf(7n).subarray(1)] }])).toBe(false)
    expect(bls.verifyAll([{ ...statement, publicKeys: [new Uint8Array()] }])).toBe(false)
    expect(bls.verifyAll([{ ...statement, signature: new Uint8Array() }])).toBe(false)
  })

  it('refuses every flipped bit of a key, a message and a signature', () => {
    const statement = sign('a message', [7n, 11n])
    const parts = [statement.publicKeys[1]!, statement.message, statement.signature]
    fc.assert(
      fc.property(fc.nat(2), fc.nat(), (part, place) => {
        const flipped = Uint8Array.from(parts[part]!)
        const bit = place % (flipped.length * 8)
        flipped[bit >> 3]! ^= 1 << (bit & 7)
        const [key, message, signature] = parts.map((bytes, at) => (at === part ? flipped : bytes))
        expect(bls.verifyAll([{ message: message!, publicKeys: [keyOf(7n), key!], signature: signature! }])).toBe(false)
      }),
      { numRuns: 30 },
    )
  })
})
