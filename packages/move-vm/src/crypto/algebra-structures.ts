import { copyBytes } from '@ledger-state/core/bytes'
import { pippenger } from '@noble/curves/abstract/curve.js'
import type { IField } from '@noble/curves/abstract/modular.js'
import type { Fp2, Fp12, Fp12Bls } from '@noble/curves/abstract/tower.js'
import type { WeierstrassPoint } from '@noble/curves/abstract/weierstrass.js'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bn254 } from '@noble/curves/bn254.js'
import { bytesToNumberLE, numberToBytesLE } from '@noble/curves/utils.js'
import { BLS_G1, BLS_G2, BN_G1, BN_G2, type CurveGroup, isInGroup } from './curve-group.js'
import { hashToGroup } from './hash-to-curve.js'
import { arkworksCodec, type PointCodec, pointLength, zcashCodec } from './point-codec.js'

/** A way to write the elements of a structure. */
export interface AlgebraFormat<E> {
  encode(element: E): Uint8Array
  /**
   * Decodes an element with every check, including membership in the group. Undefined if the bytes are not an element.
   */
  decode(bytes: Uint8Array): E | undefined
}

/** Operations that only fields have. */
export interface FieldOperations<E> {
  multiply(left: E, right: E): E
  square(element: E): E
  /** The inverse; undefined for 0. */
  invert(element: E): E | undefined
  fromInteger(value: bigint): E
}

/** Operations that only groups have. */
export interface GroupOperations<E> {
  /** The element times a scalar, which must be below the order. */
  scale(element: E, scalar: bigint): E
  /** The sum of elements times scalars; both lists have one length. Absent if the structure has no such native. */
  scaleAll?(elements: readonly E[], scalars: readonly bigint[]): E
  /** RFC 9380, `XMD:SHA-256_SSWU_RO_`; absent for a group without that suite. */
  hashTo?(tag: Uint8Array, message: Uint8Array): E
}

/** Prices of operations on a structure, in simple instructions of 50 ns. */
export interface AlgebraPrices {
  readonly add: number
  readonly multiply: number
  readonly invert: number
  readonly scale: number
  readonly decode: number
  readonly hashTo: number
}

/** A curve, by its module's name without `_algebra`. */
export type CurveName = 'bls12381' | 'bn254'

/** A field or group that the natives of `crypto_algebra` work on. */
export interface AlgebraStructure<E> {
  readonly curve: CurveName
  readonly name: string
  /** Structures of one representation share their elements: `Gt` is a part of `Fq12`. */
  readonly representation: string
  /** Bytes of an element, as the limit of a call counts them. */
  readonly elementBytes: number
  readonly order: bigint
  readonly zero: E
  /** The neutral element of multiplication in a field; the generator of a group. For `Gt` this costs a pairing. */
  one(): E
  add(left: E, right: E): E
  subtract(left: E, right: E): E
  negate(element: E): E
  double(element: E): E
  isEqual(left: E, right: E): boolean
  readonly field: FieldOperations<E> | undefined
  readonly group: GroupOperations<E> | undefined
  readonly formats: ReadonlyMap<string, AlgebraFormat<E>>
  /** Format for moving elements between threads. It reads only its own output, so it does not check membership. */
  readonly transport: AlgebraFormat<E>
  readonly prices: AlgebraPrices
}

/** A curve with its pairing. */
export interface PairingCurve {
  readonly curve: CurveName
  readonly g1: AlgebraStructure<WeierstrassPoint<bigint>>
  readonly g2: AlgebraStructure<WeierstrassPoint<Fp2>>
  readonly gt: AlgebraStructure<Fp12>
  /** All structures of the curve, including `g1`, `g2` and `gt`. */
  readonly structures: readonly AlgebraStructure<unknown>[]
  /** The price of a pairing, and of each pair of a product of several beyond the first, in simple instructions. */
  readonly pairingPrice: number
  readonly furtherPairPrice: number
  /**
   * The product of the pairings of `g1[i]` with `g2[i]`; both lists have one length. A pair with a point at infinity is
   * skipped.
   */
  pair(g1: readonly WeierstrassPoint<bigint>[], g2: readonly WeierstrassPoint<Fp2>[]): Fp12
}

const PRIME_FIELD_PRICES: AlgebraPrices = { add: 10, multiply: 20, invert: 1_000, scale: 0, decode: 50, hashTo: 0 }

function primeField(curve: CurveName, name: string, field: IField<bigint>): AlgebraStructure<bigint> {
  const { ORDER, BYTES } = field
  const lowestFirst: AlgebraFormat<bigint> = {
    encode: (element) => numberToBytesLE(element, BYTES),
    decode: (bytes) => readBelow(bytes, BYTES, ORDER),
  }
  const highestFirst: AlgebraFormat<bigint> = {
    encode: (element) => lowestFirst.encode(element).reverse(),
    decode: (bytes) => lowestFirst.decode(copyBytes(bytes).reverse()),
  }
  return {
    curve,
    name,
    representation: `${curve} ${name}`,
    elementBytes: BYTES,
    order: ORDER,
    zero: field.ZERO,
    one: () => field.ONE,
    ...additionOf(field),
    field: fieldOperationsOf(field, (value) => value % ORDER),
    group: undefined,
    formats: new Map([
      [`Format${name}Lsb`, lowestFirst],
      [`Format${name}Msb`, highestFirst],
    ]),
    transport: lowestFirst,
    prices: PRIME_FIELD_PRICES,
  }
}

function additionOf<E>(field: IField<E>) {
  return {
    add: (left: E, right: E) => field.add(left, right),
    subtract: (left: E, right: E) => field.sub(left, right),
    negate: (element: E) => field.neg(element),
    double: (element: E) => field.add(element, element),
    isEqual: (left: E, right: E) => field.eql(left, right),
  }
}

function fieldOperationsOf<E>(field: IField<E>, fromInteger: (value: bigint) => E): FieldOperations<E> {
  return {
    multiply: (left, right) => field.mul(left, right),
    square: (element) => field.sqr(element),
    invert: (element) => (field.is0(element) ? undefined : field.inv(element)),
    fromInteger,
  }
}

function readBelow(bytes: Uint8Array, length: number, limit: bigint): bigint | undefined {
  if (bytes.length !== length) return undefined
  const value = bytesToNumberLE(bytes)
  return value < limit ? value : undefined
}

const FQ12_COEFFICIENTS = 12

function fq12Format(Fp12: Fp12Bls, { ORDER, BYTES }: IField<bigint>): AlgebraFormat<Fp12> {
  return {
    encode(element) {
      const bytes = new Uint8Array(FQ12_COEFFICIENTS * BYTES)
      let at = 0
      for (const { c0, c1, c2 } of [element.c0, element.c1]) {
        for (const part of [c0, c1, c2]) {
          bytes.set(numberToBytesLE(part.c0, BYTES), at)
          bytes.set(numberToBytesLE(part.c1, BYTES), at + BYTES)
          at += 2 * BYTES
        }
      }
      return bytes
    },
    decode(bytes) {
      if (bytes.length !== FQ12_COEFFICIENTS * BYTES) return undefined
      const parts: bigint[] = []
      for (let at = 0; at < bytes.length; at += BYTES) {
        const part = readBelow(bytes.subarray(at, at + BYTES), BYTES, ORDER)
        if (part === undefined) return undefined
        parts.push(part)
      }
      return Fp12.fromBigTwelve(parts as Parameters<Fp12Bls['fromBigTwelve']>[0])
    },
  }
}

const FQ12_PRICES: AlgebraPrices = { add: 60, multiply: 900, invert: 5_000, scale: 0, decode: 700, hashTo: 0 }
const GT_PRICES: AlgebraPrices = { add: 900, multiply: 0, invert: 5_000, scale: 200_000, decode: 200_000, hashTo: 0 }

function fq12(curve: CurveName, Fp12: Fp12Bls, base: IField<bigint>): AlgebraStructure<Fp12> {
  const format = fq12Format(Fp12, base)
  const fromInteger = (value: bigint) => Fp12.mul(Fp12.ONE, value)
  return {
    curve,
    name: 'Fq12',
    representation: `${curve} Fq12`,
    elementBytes: FQ12_COEFFICIENTS * base.BYTES,
    order: base.ORDER ** 12n,
    zero: Fp12.ZERO,
    one: () => Fp12.ONE,
    ...additionOf(Fp12),
    field: fieldOperationsOf(Fp12, fromInteger),
    group: undefined,
    formats: new Map([['FormatFq12LscLsb', format]]),
    transport: format,
    prices: FQ12_PRICES,
  }
}

/** The target group of a pairing, written additively: the elements x of Fq12 with x^order = 1. */
function targetGroup(
  curve: CurveName,
  { Fp12, Fp, Fr }: { Fp12: Fp12Bls; Fp: IField<bigint>; Fr: IField<bigint> },
  generator: () => Fp12,
): AlgebraStructure<Fp12> {
  const transport = fq12Format(Fp12, Fp)
  const format: AlgebraFormat<Fp12> = {
    encode: transport.encode,
    decode(bytes) {
      const element = transport.decode(bytes)
      return element !== undefined && Fp12.eql(Fp12.pow(element, Fr.ORDER), Fp12.ONE) ? element : undefined
    },
  }
  return {
    curve,
    name: 'Gt',
    representation: `${curve} Fq12`,
    elementBytes: FQ12_COEFFICIENTS * Fp.BYTES,
    order: Fr.ORDER,
    zero: Fp12.ONE,
    one: generator,
    add: (left, right) => Fp12.mul(left, right),
    subtract: (left, right) => Fp12.mul(left, Fp12.inv(right)),
    negate: (element) => Fp12.inv(element),
    double: (element) => Fp12.sqr(element),
    isEqual: (left, right) => Fp12.eql(left, right),
    field: undefined,
    group: { scale: (element, scalar) => Fp12.pow(element, scalar) },
    formats: new Map([['FormatGt', format]]),
    transport,
    prices: GT_PRICES,
  }
}

interface GroupParts<T> {
  readonly curve: CurveName
  readonly name: 'G1' | 'G2'
  readonly of: CurveGroup<T>
  readonly codec: PointCodec
  readonly prices: AlgebraPrices
  readonly hashTo?: ((tag: Uint8Array, message: Uint8Array) => WeierstrassPoint<T>) | undefined
}

function curveGroup<T>({
  curve,
  name,
  of,
  codec,
  prices,
  hashTo,
}: GroupParts<T>): AlgebraStructure<WeierstrassPoint<T>> {
  const { Point } = of
  const formatOf = (isCompressed: boolean): AlgebraFormat<WeierstrassPoint<T>> => ({
    encode: (point) => codec.encode(of, point, isCompressed),
    decode(bytes) {
      const point = codec.decode(of, bytes, isCompressed)
      return point !== undefined && isInGroup(point) ? point : undefined
    },
  })
  const uncompressed = formatOf(false)
  return {
    curve,
    name,
    representation: `${curve} ${name}`,
    // Points are kept in projective form, with three coordinates.
    elementBytes: (3 * pointLength(of, false)) / 2,
    order: Point.Fn.ORDER,
    zero: Point.ZERO,
    one: () => Point.BASE,
    add: (left, right) => left.add(right),
    subtract: (left, right) => left.subtract(right),
    negate: (point) => point.negate(),
    double: (point) => point.double(),
    isEqual: (left, right) => left.equals(right),
    field: undefined,
    group: {
      scale: (point, scalar) => point.multiplyUnsafe(scalar),
      scaleAll: (points, scalars) => (points.length === 0 ? Point.ZERO : pippenger(Point, [...points], [...scalars])),
      ...(hashTo && { hashTo }),
    },
    formats: new Map([
      [`Format${name}Uncompr`, uncompressed],
      [`Format${name}Compr`, formatOf(true)],
    ]),
    transport: { encode: uncompressed.encode, decode: (bytes) => codec.decode(of, bytes, false) },
    prices,
  }
}

function pairWith(
  { pairingBatch, fields }: Pick<typeof bn254, 'pairingBatch' | 'fields'>,
  g1: readonly WeierstrassPoint<bigint>[],
  g2: readonly WeierstrassPoint<Fp2>[],
): Fp12 {
  const pairs = g1.map((point, index) => ({ g1: point, g2: g2[index]! }))
  const finite = pairs.filter((pair) => !pair.g1.is0() && !pair.g2.is0())
  return finite.length === 0 ? fields.Fp12.ONE : pairingBatch(finite)
}

const BLS_G1_PRICES: AlgebraPrices = { add: 200, multiply: 0, invert: 0, scale: 50_000, decode: 20_000, hashTo: 65_000 }
const BLS_G2_PRICES: AlgebraPrices = {
  add: 600,
  multiply: 0,
  invert: 0,
  scale: 150_000,
  decode: 40_000,
  hashTo: 135_000,
}
const BN_G1_PRICES: AlgebraPrices = { add: 100, multiply: 0, invert: 0, scale: 26_000, decode: 3_000, hashTo: 0 }
const BN_G2_PRICES: AlgebraPrices = { add: 300, multiply: 0, invert: 0, scale: 76_000, decode: 60_000, hashTo: 0 }

function createBls12381(): PairingCurve {
  const { fields, G1, G2, pairing } = bls12_381
  const gt = targetGroup('bls12381', fields, () => pairing(G1.Point.BASE, G2.Point.BASE))
  const g1 = curveGroup({
    curve: 'bls12381',
    name: 'G1',
    of: BLS_G1,
    codec: zcashCodec,
    prices: BLS_G1_PRICES,
    hashTo: (tag, message) =>
      tag.length > 0 ? G1.hashToCurve(message, { DST: tag }) : hashToGroup(G1, 1, tag, message),
  })
  const g2 = curveGroup({
    curve: 'bls12381',
    name: 'G2',
    of: BLS_G2,
    codec: zcashCodec,
    prices: BLS_G2_PRICES,
    hashTo: (tag, message) =>
      tag.length > 0 ? G2.hashToCurve(message, { DST: tag }) : hashToGroup(G2, 2, tag, message),
  })
  const rest = [primeField('bls12381', 'Fr', fields.Fr), fq12('bls12381', fields.Fp12, fields.Fp)]
  return {
    curve: 'bls12381',
    g1,
    g2,
    gt,
    structures: [g1, g2, gt, ...rest],
    pairingPrice: 300_000,
    furtherPairPrice: 92_000,
    pair: (g1, g2) => pairWith(bls12_381, g1, g2),
  }
}

function createBn254(): PairingCurve {
  const { fields, G1, G2, pairing } = bn254
  const gt = targetGroup('bn254', fields, () => pairing(G1.Point.BASE, G2.Point.BASE))
  const g1 = curveGroup({ curve: 'bn254', name: 'G1', of: BN_G1, codec: arkworksCodec, prices: BN_G1_PRICES })
  const g2 = curveGroup({ curve: 'bn254', name: 'G2', of: BN_G2, codec: arkworksCodec, prices: BN_G2_PRICES })
  const rest = [
    primeField('bn254', 'Fr', fields.Fr),
    primeField('bn254', 'Fq', fields.Fp),
    fq12('bn254', fields.Fp12, fields.Fp),
  ]
  return {
    curve: 'bn254',
    g1,
    g2,
    gt,
    structures: [g1, g2, gt, ...rest],
    pairingPrice: 210_000,
    furtherPairPrice: 68_000,
    pair: (g1, g2) => pairWith(bn254, g1, g2),
  }
}

/** The pairing-friendly curves of the natives, by their `CurveName`. */
export const PAIRING_CURVES: Readonly<Record<CurveName, PairingCurve>> = {
  bls12381: createBls12381(),
  bn254: createBn254(),
}

const STRUCTURES: ReadonlyMap<string, AlgebraStructure<unknown>> = new Map(
  Object.values(PAIRING_CURVES).flatMap(({ curve, structures }) =>
    structures.map((structure): [string, AlgebraStructure<unknown>] => [`${curve} ${structure.name}`, structure]),
  ),
)

/** A structure by its curve and its name in Move, such as `bls12381 G1`. */
export function findAlgebraStructure(name: string): AlgebraStructure<unknown> | undefined {
  return STRUCTURES.get(name)
}
