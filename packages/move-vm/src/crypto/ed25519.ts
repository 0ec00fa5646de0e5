import { ed25519 } from '@noble/curves/ed25519.js'
import { bytesToNumberLE } from '@noble/curves/utils.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { concatBytes } from '@noble/hashes/utils.js'

type EdwardsPoint = InstanceType<typeof ed25519.Point>

const ORDER = ed25519.Point.Fn.ORDER

/** Bytes of a public key. */
export const ED25519_KEY_LENGTH = 32
/** Bytes of a signature. */
export const ED25519_SIGNATURE_LENGTH = 64

/**
 * Decodes a point from 32 bytes; undefined if they are not a point. As in curve25519-dalek, the y-coordinate may be
 * written as a number above the field's order.
 */
function decompress(bytes: Uint8Array): EdwardsPoint | undefined {
  if (bytes.length !== ED25519_KEY_LENGTH) return undefined
  try {
    return ed25519.Point.fromBytes(bytes, true)
  } catch {
    return undefined
  }
}

/** Whether the bytes are a point of the curve. */
export function isEd25519Point(bytes: Uint8Array): boolean {
  return decompress(bytes) !== undefined
}

/** Whether the bytes are a point of the curve that is not of small order. */
export function isEd25519Key(bytes: Uint8Array): boolean {
  const point = decompress(bytes)
  return point !== undefined && !point.isSmallOrder()
}

/**
 * Whether a signature of a message is valid for a key, as in `verify_strict` of ed25519-dalek: S is below the order,
 * neither R nor the key has a small order, and the equation holds without the cofactor.
 */
export function isEd25519Signature(signature: Uint8Array, key: Uint8Array, message: Uint8Array): boolean {
  if (signature.length !== ED25519_SIGNATURE_LENGTH) return false
  const rBytes = signature.subarray(0, 32)
  const s = bytesToNumberLE(signature.subarray(32))
  if (s >= ORDER) return false
  const a = decompress(key)
  const r = decompress(rBytes)
  if (a === undefined || r === undefined || a.isSmallOrder() || r.isSmallOrder()) return false
  const challenge = bytesToNumberLE(sha512(concatBytes(rBytes, key, message))) % ORDER
  return ed25519.Point.BASE.multiplyUnsafe(s).subtract(a.multiplyUnsafe(challenge)).equals(r)
}
