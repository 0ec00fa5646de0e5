import { pippenger } from '@noble/curves/abstract/curve.js'
import { ristretto255, ristretto255_hasher } from '@noble/curves/ed25519.js'
import { bytesToNumberLE, numberToBytesLE } from '@noble/curves/utils.js'
import { sha512 } from '@noble/hashes/sha2.js'

/** A point of the group. */
export type RistrettoPoint = InstanceType<typeof ristretto255.Point>

export const RISTRETTO: typeof ristretto255.Point = ristretto255.Point

/** The order of the group. */
export const RISTRETTO_ORDER = RISTRETTO.Fn.ORDER

/** Bytes of a scalar, and of a point. */
export const RISTRETTO_LENGTH = 32

/** Number of products from which the method of Pippenger is faster: measured, 4.8 ms instead of 5.5 for 7 of them. */
const LEAST_PIPPENGER = 7

/** Decodes a point from its canonical bytes; undefined if they are not a point. */
export function decodeRistretto(bytes: Uint8Array): RistrettoPoint | undefined {
  if (bytes.length !== RISTRETTO_LENGTH) return undefined
  try {
    return RISTRETTO.fromBytes(bytes)
  } catch {
    return undefined
  }
}

/** Maps 64 bytes to a point. Uniform bytes give uniform points. */
export function ristrettoOfUniformBytes(bytes: Uint8Array): RistrettoPoint {
  return ristretto255_hasher.deriveToCurve!(bytes)
}

/** Hashes bytes with SHA-512 and maps the hash to a point. */
export function ristrettoOfSha512(bytes: Uint8Array): RistrettoPoint {
  return ristrettoOfUniformBytes(sha512(bytes))
}

/** Encodes an integer as a scalar: reduced by the order, 32 bytes, little-endian. */
export function encodeRistrettoScalar(value: bigint): Uint8Array {
  const reduced = value % RISTRETTO_ORDER
  return numberToBytesLE(reduced < 0n ? reduced + RISTRETTO_ORDER : reduced, RISTRETTO_LENGTH)
}

/**
 * The sum of points times scalars, all as bytes; both lists have one length.
 * @throws if the bytes of a point are not a point
 */
export function multiplyRistretto(points: readonly Uint8Array[], scalars: readonly Uint8Array[]): Uint8Array {
  const decoded = points.map((point) => RISTRETTO.fromBytes(point))
  const factors = scalars.map((scalar) => bytesToNumberLE(scalar) % RISTRETTO_ORDER)
  return sumOfProducts(decoded, factors).toBytes()
}

function sumOfProducts(points: RistrettoPoint[], scalars: bigint[]): RistrettoPoint {
  if (points.length >= LEAST_PIPPENGER) return pippenger(RISTRETTO, points, scalars)
  return points.reduce((sum, point, at) => sum.add(point.multiplyUnsafe(scalars[at]!)), RISTRETTO.ZERO)
}
