import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto'
import { copyBytes } from '@ledger-state/core/bytes'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { ED25519_TORSION_SUBGROUP, ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  aggregateBlsKeys,
  aggregateBlsSignatures,
  isBlsAggregateSignature,
  isBlsKey,
  isBlsProofOfPossession,
  isBlsSignature,
  isInBlsSignatureGroup,
} from './bls12381-signatures.js'
import { isEd25519Key, isEd25519Signature } from './ed25519.js'
import { areEd25519Keys, isMultiEd25519Key, isMultiEd25519Signature } from './multi-ed25519.js'
import { recoverSecp256k1Key } from './secp256k1.js'

const text = (value: string) => new TextEncoder().encode(value)
/** A copy with one bit changed. */
function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = copyBytes(bytes)
  changed[bit >> 3]! ^= 1 << (bit & 7)
  return changed
}

function ed25519Pair() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const key = new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32))
  return { key, publicKey, sign: (message: Uint8Array) => new Uint8Array(sign(null, message, privateKey)) }
}

describe('ed25519', () => {
  it('accepts signatures of OpenSSL, and refuses those that OpenSSL refuses', () => {
    const pair = ed25519Pair()
    expect(isEd25519Key(pair.key)).toBe(true)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(511), (message, bit) => {
        const signature = pair.sign(message)
        expect(isEd25519Signature(signature, pair.key, message)).toBe(true)
        const changed = flip(signature, bit)
        expect(isEd25519Signature(changed, pair.key, message)).toBe(verify(null, message, pair.publicKey, changed))
      }),
      { numRuns: 20 },
    )
  })

  it('refuses keys and commitments of small order, and an S that is not reduced', () => {
    const pair = ed25519Pair()
    const message = text('message')
    const signature = pair.sign(message)
    for (const point of ED25519_TORSION_SUBGROUP) {
      const bytes = hexToBytes(point)
      expect(isEd25519Key(bytes)).toBe(false)
      expect(isEd25519Signature(concatBytes(bytes, new Uint8Array(32)), bytes, message)).toBe(false)
    }
    const { ORDER } = ed25519.Point.Fn
    const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + ORDER
    const unreduced = Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()
    expect(isEd25519Signature(concatBytes(signature.subarray(0, 32), unreduced), pair.key, message)).toBe(false)
    expect(isEd25519Key(pair.key.subarray(1))).toBe(false)
    expect(isEd25519Signature(signature.subarray(1), pair.key, message)).toBe(false)
  })

  it('has no cofactor in its equation', () => {
    // A key with a component of order 8. The cofactored equation accepts some of its signatures; the strict one accepts
    // only a few, by chance.
    const torsion = ed25519.Point.fromHex(ED25519_TORSION_SUBGROUP[1]!)
    const secret = 12345n
    const key = ed25519.Point.BASE.multiply(secret).add(torsion).toBytes()
    const taken = Array.from({ length: 16 }, (_, index) => {
      const message = text(`message ${index}`)
      const r = ed25519.Point.BASE.multiply(BigInt(index) + 1n)
      const hash = createHash('sha512')
        .update(concatBytes(r.toBytes(), key, message))
        .digest()
      const k = ed25519.Point.Fn.create(BigInt(`0x${hash.reverse().toString('hex')}`))
      const s = ed25519.Point.Fn.create(BigInt(index) + 1n + k * secret)
      const signature = concatBytes(r.toBytes(), ed25519.Point.Fn.toBytes(s))
      expect(isEd25519Signature(signature, key, message)).toBe(torsion.multiplyUnsafe(k).is0())
      return ed25519.verify(signature, message, key)
    })
    expect(taken).toContain(true)
  })
})

describe('multi_ed25519', () => {
  const pairs = [ed25519Pair(), ed25519Pair(), ed25519Pair()]
  const keys = concatBytes(...pairs.map(({ key }) => key))
  const key = concatBytes(keys, Uint8Array.of(2))
  const message = text('several')
  const signed = (signers: readonly number[], bitmap: readonly number[]) =>
    concatBytes(...signers.map((signer) => pairs[signer]!.sign(message)), Uint8Array.from(bitmap))

  it('requires as many signatures as the threshold at least, in the order of the bitmap', () => {
    expect(isMultiEd25519Key(key)).toBe(true)
    expect(isMultiEd25519Signature(signed([0, 2], [0xa0, 0, 0, 0]), key, message)).toBe(true)
    expect(isMultiEd25519Signature(signed([0, 1, 2], [0xe0, 0, 0, 0]), key, message)).toBe(true)
    expect(isMultiEd25519Signature(signed([2, 0], [0xa0, 0, 0, 0]), key, message)).toBe(false)
    expect(isMultiEd25519Signature(signed([0], [0x80, 0, 0, 0]), key, message)).toBe(false)
    expect(isMultiEd25519Signature(signed([0, 1], [0x90, 0, 0, 0]), key, message)).toBe(false)
    expect(isMultiEd25519Signature(signed([0, 1], [0xe0, 0, 0, 0]), key, message)).toBe(false)
  })

  it('reads the threshold only in the second form of a key', () => {
    const withThreshold = (threshold: number) => concatBytes(keys, Uint8Array.of(threshold))
    expect([0, 1, 3, 4].map((one) => isMultiEd25519Key(withThreshold(one)))).toEqual([false, true, true, false])
    expect([0, 1, 3, 4].map((one) => areEd25519Keys(withThreshold(one)))).toEqual([true, true, true, true])
    expect(isMultiEd25519Key(keys)).toBe(false)
    const tooMany = concatBytes(...Array.from({ length: 33 }, () => pairs[0]!.key), Uint8Array.of(1))
    expect([isMultiEd25519Key(tooMany), areEd25519Keys(tooMany)]).toEqual([false, false])
    const small = concatBytes(hexToBytes(ED25519_TORSION_SUBGROUP[1]!), Uint8Array.of(1))
    expect([isMultiEd25519Key(small), areEd25519Keys(small)]).toEqual([false, false])
  })
})

describe('secp256k1', () => {
  it('finds the key of a signature, even with a high s', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.boolean(), (hash, isHigh) => {
        const { secretKey } = secp256k1.keygen()
        const expected = secp256k1.getPublicKey(secretKey, false).subarray(1)
        const bytes = secp256k1.sign(hash, secretKey, { prehash: false, format: 'recovered' })
        let signature = bytes.subarray(1)
        let id = bytes[0]!
        if (isHigh) {
          const { Fn } = secp256k1.Point
          signature = concatBytes(signature.subarray(0, 32), Fn.toBytes(Fn.neg(Fn.fromBytes(signature.subarray(32)))))
          id ^= 1
        }
        expect(recoverSecp256k1Key(hash, id, signature)).toEqual(expected)
      }),
      { numRuns: 10 },
    )
  })

  it('finds the key of a signature of OpenSSL by one of the two ids', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
    const { x, y } = publicKey.export({ format: 'jwk' })
    const expected = Buffer.concat([Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')]).toString('hex')
    for (const one of ['a message', 'another', '']) {
      const hash = createHash('sha256').update(one).digest()
      const signature = sign('sha256', Buffer.from(one), { key: privateKey, dsaEncoding: 'ieee-p1363' })
      const keys = [0, 1].map((id) => recoverSecp256k1Key(hash, id, signature) as Uint8Array)
      expect(keys.map((key) => Buffer.from(key).toString('hex'))).toContain(expected)
    }
  })

  it('distinguishes inputs of a wrong form from signatures that nobody made', () => {
    const hash = new Uint8Array(32).fill(7)
    const good = secp256k1.sign(hash, secp256k1.keygen().secretKey, { prehash: false })
    const order = secp256k1.Point.Fn.ORDER.toString(16)
    expect(recoverSecp256k1Key(hash.subarray(1), 0, good)).toBeUndefined()
    expect(recoverSecp256k1Key(hash, 4, good)).toBeUndefined()
    expect(recoverSecp256k1Key(hash, 0, good.subarray(1))).toBeUndefined()
    expect(recoverSecp256k1Key(hash, 0, concatBytes(hexToBytes(order), good.subarray(32)))).toBeUndefined()
    expect(recoverSecp256k1Key(hash, 0, new Uint8Array(64))).toBe('no key')
    // No point has x = 5.
    const noPoint = concatBytes(hexToBytes('5'.padStart(64, '0')), good.subarray(32))
    expect(recoverSecp256k1Key(hash, 0, noPoint)).toBe('no key')
  })
})

describe('bls12381', () => {
  const DST = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_'
  const { longSignatures: peer } = bls12_381
  const secrets = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte))
  const keys = secrets.map((secret) => peer.getPublicKey(secret).toBytes())
  const signatureOf = (secret: Uint8Array, message: Uint8Array, suite = DST) =>
    peer.Signature.toBytes(peer.sign(peer.hash(message, suite), secret))
  const message = text('a message')

  it('accepts signatures of the library, and no others', () => {
    const signature = signatureOf(secrets[0]!, message)
    expect(isBlsKey(keys[0]!)).toBe(true)
    expect(isInBlsSignatureGroup(signature)).toBe(true)
    expect(isBlsSignature(signature, keys[0]!, message, true)).toBe(true)
    expect(isBlsSignature(signature, keys[1]!, message, true)).toBe(false)
    expect(isBlsSignature(signature, keys[0]!, text('another'), false)).toBe(false)
    expect(isBlsSignature(flip(signature, 700), keys[0]!, message, false)).toBe(false)
  })

  it('takes multisignatures with the sum of the keys', () => {
    const signatures = secrets.map((secret) => signatureOf(secret, message))
    const key = aggregateBlsKeys(keys)!
    const signature = aggregateBlsSignatures(signatures)!
    expect(key).toEqual(peer.aggregatePublicKeys([...keys]).toBytes())
    expect(isBlsSignature(signature, key, message, false)).toBe(true)
    expect([aggregateBlsKeys([]), aggregateBlsKeys([keys[0]!, text('no key')])]).toEqual([undefined, undefined])
    expect(aggregateBlsSignatures([])).toBeUndefined()
  })

  it('takes aggregates over a message for each key', () => {
    const messages = ['one', 'two', 'three'].map(text)
    const signature = aggregateBlsSignatures(secrets.map((secret, index) => signatureOf(secret, messages[index]!)))!
    expect(isBlsAggregateSignature(signature, keys, messages)).toBe(true)
    expect(isBlsAggregateSignature(signature, keys, messages.toReversed())).toBe(false)
    expect(isBlsAggregateSignature(signature, keys.slice(1), messages)).toBe(false)
    expect(isBlsAggregateSignature(signature, [], [])).toBe(false)
  })

  it('takes proofs of possession under their own suite', () => {
    const proof = signatureOf(secrets[0]!, keys[0]!, 'BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_')
    expect(isBlsProofOfPossession(keys[0]!, proof)).toBe(true)
    expect(isBlsProofOfPossession(keys[1]!, proof)).toBe(false)
    expect(isBlsProofOfPossession(keys[0]!, signatureOf(secrets[0]!, keys[0]!))).toBe(false)
  })

  it('refuses infinity, points outside of the group, and bytes that are not a point', () => {
    const infinity = new Uint8Array(48)
    infinity[0] = 0xc0
    expect(isBlsKey(infinity)).toBe(false)
    expect(aggregateBlsKeys([infinity, keys[0]!])).toEqual(keys[0])
    infinity[47] = 1
    expect(aggregateBlsKeys([infinity])).toBeUndefined()
    expect(isBlsKey(keys[0]!.subarray(1))).toBe(false)
    expect(isBlsKey(new Uint8Array(48).fill(0xff))).toBe(false)
    // A point of the curve that is not in the group: x = 4 on y² = x³ + 4.
    const outside = new Uint8Array(48)
    outside[0] = 0x80
    outside[47] = 4
    expect(aggregateBlsKeys([outside])).toBeDefined()
    expect(isBlsKey(outside)).toBe(false)
    // An uncompressed key, which blst accepts, too.
    expect(isBlsKey(peer.getPublicKey(secrets[0]!).toBytes(false))).toBe(true)
  })
})
