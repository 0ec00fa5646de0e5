import type { H2CHasher } from '@noble/curves/abstract/hash-to-curve.js'
import type { WeierstrassPoint, WeierstrassPointCons } from '@noble/curves/abstract/weierstrass.js'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bytesToNumberBE } from '@noble/curves/utils.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes } from '@noble/hashes/utils.js'

// RFC 9380 with SHA-256 for BLS12-381. The library refuses empty tags, as the standard demands; the reference accepts
// them.

const HASH_BYTES = 32
const HASH_BLOCK_BYTES = 64
/** Bytes of a hash from which one element of the prime field is made. */
const FIELD_BYTES = 64
const ELEMENTS = 2

/** `expand_message_xmd` of RFC 9380, with a tag of at most 255 bytes. */
function expandMessage(message: Uint8Array, tag: Uint8Array, length: number): Uint8Array {
  const suffix = concatBytes(tag, Uint8Array.of(tag.length))
  const lengthBytes = Uint8Array.of(length >> 8, length)
  const first = sha256(concatBytes(new Uint8Array(HASH_BLOCK_BYTES), message, lengthBytes, Uint8Array.of(0), suffix))
  const blocks = [sha256(concatBytes(first, Uint8Array.of(1), suffix))]
  for (let index = 2; index <= length / HASH_BYTES; index++) {
    const mixed = first.map((byte, at) => byte ^ blocks.at(-1)![at]!)
    blocks.push(sha256(concatBytes(mixed, Uint8Array.of(index), suffix)))
  }
  return concatBytes(...blocks)
}

/** Two field elements for a message, each with `degree` coefficients. */
function hashToField(message: Uint8Array, tag: Uint8Array, coefficients: number): bigint[][] {
  const bytes = expandMessage(message, tag, ELEMENTS * coefficients * FIELD_BYTES)
  const elements: bigint[][] = []
  for (let at = 0; at < bytes.length; ) {
    const element: bigint[] = []
    for (let part = 0; part < coefficients; part++, at += FIELD_BYTES) {
      element.push(bytesToNumberBE(bytes.subarray(at, at + FIELD_BYTES)) % bls12_381.fields.Fp.ORDER)
    }
    elements.push(element)
  }
  return elements
}

/** Hashes a message to a point of G1 or G2, with a tag of 0 to 255 bytes. */
export function hashToGroup<T>(
  group: H2CHasher<WeierstrassPointCons<T>>,
  coefficients: number,
  tag: Uint8Array,
  message: Uint8Array,
): WeierstrassPoint<T> {
  // Clearing the cofactor of the sum gives the same point as clearing it in both.
  const [first, second] = hashToField(message, tag, coefficients).map((element) => {
    // For a prime field the library takes the number itself; its type declarations omit that.
    const { x, y } = group.mapToCurve((coefficients === 1 ? element[0]! : element) as bigint[])
    return group.Point.fromAffine({ x, y })
  })
  return first!.add(second!)
}
