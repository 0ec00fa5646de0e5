import { copyBytes } from '@ledger-state/core/bytes'
import type { WeierstrassPoint } from '@noble/curves/abstract/weierstrass.js'
import { bytesToNumberBE, bytesToNumberLE, numberToBytesBE, numberToBytesLE } from '@noble/curves/utils.js'
import { type CurveGroup, isLarger, pointOfX, pointOfXY } from './curve-group.js'

/** A way to write points. Reading checks that a point is on the curve, and not that it is in the group. */
export interface PointCodec {
  encode<T>(group: CurveGroup<T>, point: WeierstrassPoint<T>, isCompressed: boolean): Uint8Array
  /** Decodes a point; undefined if the bytes are not a point of the curve. */
  decode<T>(group: CurveGroup<T>, bytes: Uint8Array, isCompressed: boolean): WeierstrassPoint<T> | undefined
}

/** Bytes of a point. */
export function pointLength<T>(group: CurveGroup<T>, isCompressed: boolean): number {
  return group.width * group.coefficients * (isCompressed ? 1 : 2)
}

const COMPRESSED = 0x80
const INFINITY = 0x40
const LARGER = 0x20

/**
 * Zcash's format for BLS12-381: big-endian, the highest coefficient first, flags in the highest three bits of the first
 * byte. As in arkworks, everything after the flag of the point at infinity is ignored.
 */
export const zcashCodec: PointCodec = {
  encode(group, point, isCompressed) {
    const bytes = new Uint8Array(pointLength(group, isCompressed))
    if (point.is0()) {
      bytes[0] = INFINITY | (isCompressed ? COMPRESSED : 0)
      return bytes
    }
    const { x, y } = point.toAffine()
    const numbers = (isCompressed ? [x] : [x, y]).flatMap((coordinate) => group.toCoefficients(coordinate).toReversed())
    numbers.forEach((number, index) => {
      bytes.set(numberToBytesBE(number, group.width), index * group.width)
    })
    if (isCompressed) bytes[0]! |= COMPRESSED | (isLarger(group, y) ? LARGER : 0)
    return bytes
  },
  decode(group, bytes, isCompressed) {
    if (bytes.length !== pointLength(group, isCompressed)) return undefined
    const flags = bytes[0]!
    if (((flags & COMPRESSED) !== 0) !== isCompressed) return undefined
    if ((flags & INFINITY) !== 0) return group.Point.ZERO
    const unflagged = copyBytes(bytes)
    unflagged[0]! &= 0x1f
    const coordinates = readCoordinates(group, unflagged, bytesToNumberBE, (parts) => parts.toReversed())
    if (coordinates === undefined) return undefined
    const [x, y] = coordinates
    return isCompressed ? pointOfX(group, x!, (flags & LARGER) !== 0) : pointOfXY(group, x!, y!)
  },
}

const ARKWORKS_LARGER = 0x80
const ARKWORKS_INFINITY = 0x40

/**
 * The format of arkworks for other curves: little-endian, the constant coefficient first, flags in the highest two bits
 * of the last byte.
 */
export const arkworksCodec: PointCodec = {
  encode(group, point, isCompressed) {
    const bytes = new Uint8Array(pointLength(group, isCompressed))
    const last = bytes.length - 1
    if (point.is0()) {
      bytes[last] = ARKWORKS_INFINITY
      return bytes
    }
    const { x, y } = point.toAffine()
    const numbers = (isCompressed ? [x] : [x, y]).flatMap((coordinate) => group.toCoefficients(coordinate))
    numbers.forEach((number, index) => {
      bytes.set(numberToBytesLE(number, group.width), index * group.width)
    })
    if (isLarger(group, y)) bytes[last]! |= ARKWORKS_LARGER
    return bytes
  },
  decode(group, bytes, isCompressed) {
    if (bytes.length !== pointLength(group, isCompressed)) return undefined
    const last = bytes.length - 1
    const flags = bytes[last]! & (ARKWORKS_LARGER | ARKWORKS_INFINITY)
    if (flags === (ARKWORKS_LARGER | ARKWORKS_INFINITY)) return undefined
    const unflagged = copyBytes(bytes)
    unflagged[last]! &= 0x3f
    const coordinates = readCoordinates(group, unflagged, bytesToNumberLE, (parts) => parts)
    if (coordinates === undefined) return undefined
    if (flags === ARKWORKS_INFINITY) return group.Point.ZERO
    const [x, y] = coordinates
    return isCompressed ? pointOfX(group, x!, flags === ARKWORKS_LARGER) : pointOfXY(group, x!, y!)
  },
}

/** One or two coordinates; undefined if a number is not below the modulus. */
function readCoordinates<T>(
  group: CurveGroup<T>,
  bytes: Uint8Array,
  toNumber: (bytes: Uint8Array) => bigint,
  inOrder: (parts: bigint[]) => bigint[],
): readonly T[] | undefined {
  const { width, coefficients, modulus } = group
  const coordinates: T[] = []
  for (let at = 0; at < bytes.length; at += width * coefficients) {
    const parts: bigint[] = []
    for (let part = 0; part < coefficients; part++) {
      const start = at + part * width
      parts.push(toNumber(bytes.subarray(start, start + width)))
    }
    if (parts.some((number) => number >= modulus)) return undefined
    coordinates.push(group.fromCoefficients(inOrder(parts)))
  }
  return coordinates
}
