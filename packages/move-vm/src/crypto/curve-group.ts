import type { IField } from '@noble/curves/abstract/modular.js'
import type { Fp2 } from '@noble/curves/abstract/tower.js'
import type { WeierstrassPoint, WeierstrassPointCons } from '@noble/curves/abstract/weierstrass.js'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bn254 } from '@noble/curves/bn254.js'

/** A group of points with coordinates in a prime field or in its quadratic extension. */
export interface CurveGroup<T> {
  readonly Point: WeierstrassPointCons<T>
  readonly field: IField<T>
  /** Order and bytes of an element of the prime field. */
  readonly modulus: bigint
  readonly width: number
  /** Coefficients of an element in the prime field, the constant one first. */
  readonly toCoefficients: (element: T) => readonly bigint[]
  readonly fromCoefficients: (coefficients: readonly bigint[]) => T
  readonly coefficients: number
}

function overPrimeField(Point: WeierstrassPointCons<bigint>, field: IField<bigint>): CurveGroup<bigint> {
  return {
    Point,
    field,
    modulus: field.ORDER,
    width: field.BYTES,
    toCoefficients: (element) => [element],
    fromCoefficients: ([constant]) => constant!,
    coefficients: 1,
  }
}

function overExtension(
  Point: WeierstrassPointCons<Fp2>,
  field: IField<Fp2>,
  { ORDER, BYTES }: IField<bigint>,
): CurveGroup<Fp2> {
  return {
    Point,
    field,
    modulus: ORDER,
    width: BYTES,
    toCoefficients: ({ c0, c1 }) => [c0, c1],
    fromCoefficients: ([c0, c1]) => ({ c0: c0!, c1: c1! }),
    coefficients: 2,
  }
}

const bls = bls12_381.fields
const bn = bn254.fields

export const BLS_G1 = overPrimeField(bls12_381.G1.Point, bls.Fp)
export const BLS_G2 = overExtension(bls12_381.G2.Point, bls.Fp2, bls.Fp)
export const BN_G1 = overPrimeField(bn254.G1.Point, bn.Fp)
export const BN_G2 = overExtension(bn254.G2.Point, bn.Fp2, bn.Fp)

/** The point with an x-coordinate. `isYLarger` chooses between its two y. Undefined if no point has that x. */
export function pointOfX<T>(group: CurveGroup<T>, x: T, isYLarger: boolean): WeierstrassPoint<T> | undefined {
  try {
    const y = group.field.sqrt(ySquared(group, x))
    return group.Point.fromAffine({ x, y: isLarger(group, y) === isYLarger ? y : group.field.neg(y) })
  } catch {
    return undefined
  }
}

/** The point with these coordinates; undefined if it is not on the curve. */
export function pointOfXY<T>(group: CurveGroup<T>, x: T, y: T): WeierstrassPoint<T> | undefined {
  const { field } = group
  return field.eql(field.sqr(y), ySquared(group, x)) ? group.Point.fromAffine({ x, y }) : undefined
}

/** Whether y is larger than -y. Compares coefficients as numbers, from the highest one that is not 0. */
export function isLarger<T>(group: CurveGroup<T>, y: T): boolean {
  const highest = group.toCoefficients(y).findLast((coefficient) => coefficient !== 0n) ?? 0n
  return 2n * highest > group.modulus
}

/** Whether a point of the curve is in the group. A curve with a cofactor has points outside of it. */
export function isInGroup<T>(point: WeierstrassPoint<T>): boolean {
  return point.is0() || point.isTorsionFree()
}

/** All curves here have the equation y² = x³ + b. */
function ySquared<T>({ field, Point }: CurveGroup<T>, x: T): T {
  return field.add(field.mul(field.sqr(x), x), Point.CURVE().b)
}
