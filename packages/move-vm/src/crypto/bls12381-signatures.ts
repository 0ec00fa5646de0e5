import type { Fp2 } from '@noble/curves/abstract/tower.js'
import type { WeierstrassPoint } from '@noble/curves/abstract/weierstrass.js'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { BLS_G1, BLS_G2, type CurveGroup, isInGroup } from './curve-group.js'
import { pointLength, zcashCodec } from './point-codec.js'

// BLS signatures with keys in G1 and signatures in G2 (draft-irtf-cfrg-bls-signature, proof of possession).

const SIGNATURE_SUITE = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_'
const POSSESSION_SUITE = 'BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_'

type Key = WeierstrassPoint<bigint>
type Signature = WeierstrassPoint<Fp2>

/**
 * Decodes a point of the curve, compressed or not, as blst does: for the point at infinity, all bits after the flags
 * must be 0. It does not check whether the point is in the group.
 */
function decodePoint<T>(group: CurveGroup<T>, bytes: Uint8Array): WeierstrassPoint<T> | undefined {
  const point = zcashCodec.decode(group, bytes, bytes.length === pointLength(group, true))
  const isStrict =
    point === undefined || !point.is0() || ((bytes[0]! & 0x3f) === 0 && bytes.subarray(1).every((byte) => byte === 0))
  return isStrict ? point : undefined
}

function isGood<T>(point: WeierstrassPoint<T> | undefined): point is WeierstrassPoint<T> {
  return point !== undefined && !point.is0() && isInGroup(point)
}

/** Whether the bytes are a key: in the group, and not infinity. */
export function isBlsKey(bytes: Uint8Array): boolean {
  return isGood(decodePoint(BLS_G1, bytes))
}

/** Whether the bytes are in the group of signatures, and not infinity. */
export function isInBlsSignatureGroup(bytes: Uint8Array): boolean {
  return isGood(decodePoint(BLS_G2, bytes))
}

function aggregate<T>(group: CurveGroup<T>, all: readonly Uint8Array[]): Uint8Array | undefined {
  if (all.length === 0) return undefined
  let sum = group.Point.ZERO
  for (const bytes of all) {
    const point = decodePoint(group, bytes)
    if (point === undefined) return undefined
    sum = sum.add(point)
  }
  return zcashCodec.encode(group, sum, true)
}

/** The sum of public keys; undefined if the list is empty or one is not on the curve. */
export function aggregateBlsKeys(keys: readonly Uint8Array[]): Uint8Array | undefined {
  return aggregate(BLS_G1, keys)
}

/** The sum of signatures; undefined if the list is empty or one is not on the curve. */
export function aggregateBlsSignatures(signatures: readonly Uint8Array[]): Uint8Array | undefined {
  return aggregate(BLS_G2, signatures)
}

/** Whether e(G, signature) equals the product of e(key, H(message)) over all pairs of key and message. */
function isProduct(
  signature: Signature,
  keys: readonly Key[],
  messages: readonly Uint8Array[],
  suite: string,
): boolean {
  const pairs = keys.map((key, index) => ({
    g1: key,
    g2: bls12_381.G2.hashToCurve(messages[index]!, { DST: suite }),
  }))
  pairs.push({ g1: BLS_G1.Point.BASE.negate(), g2: signature })
  const { Fp12 } = bls12_381.fields
  return Fp12.eql(bls12_381.pairingBatch(pairs), Fp12.ONE)
}

/** Whether a signature of a message is valid. For a multisignature, the key is the sum of the signers' keys. */
export function isBlsSignature(
  signature: Uint8Array,
  key: Uint8Array,
  message: Uint8Array,
  isKeyChecked: boolean,
): boolean {
  const keyPoint = decodePoint(BLS_G1, key)
  if (keyPoint === undefined || keyPoint.is0() || (isKeyChecked && !isInGroup(keyPoint))) return false
  const point = decodePoint(BLS_G2, signature)
  return isGood(point) && isProduct(point, [keyPoint], [message], SIGNATURE_SUITE)
}

/** Whether an aggregate signature is valid: each key signed its own message. */
export function isBlsAggregateSignature(
  signature: Uint8Array,
  keys: readonly Uint8Array[],
  messages: readonly Uint8Array[],
): boolean {
  if (keys.length !== messages.length || keys.length === 0) return false
  const points: Key[] = []
  for (const key of keys) {
    const point = decodePoint(BLS_G1, key)
    if (point === undefined || point.is0()) return false
    points.push(point)
  }
  const point = decodePoint(BLS_G2, signature)
  return isGood(point) && isProduct(point, points, messages, SIGNATURE_SUITE)
}

/** Whether a proof of possession is valid: its maker has the secret key of `key`. */
export function isBlsProofOfPossession(key: Uint8Array, proof: Uint8Array): boolean {
  const keyPoint = decodePoint(BLS_G1, key)
  if (!isGood(keyPoint)) return false
  const point = decodePoint(BLS_G2, proof)
  return isGood(point) && isProduct(point, [keyPoint], [zcashCodec.encode(BLS_G1, keyPoint, true)], POSSESSION_SUITE)
}
