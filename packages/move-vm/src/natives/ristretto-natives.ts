import { bytesToNumberLE } from '@noble/curves/utils.js'
import {
  decodeRistretto,
  encodeRistrettoScalar,
  RISTRETTO,
  RISTRETTO_LENGTH,
  RISTRETTO_ORDER,
  type RistrettoPoint,
  ristrettoOfSha512,
  ristrettoOfUniformBytes,
} from '../crypto/ristretto255.js'
import type { Value } from '../values/value.js'
import {
  booleanOf,
  byteVectorOf,
  indexOf,
  integerOf,
  itemsOf,
  structAt,
  structOf,
  toVector,
  valueAt,
} from './arguments.js'
import { ENCODED_AT_ONCE, encodeAll } from './encode-all.js'
import { hashBytes } from './hash-natives.js'
import type { Native, NativeContext, NativeExtension } from './native.js'

// Points of ristretto255. They are kept in the run, and Move code knows them by their numbers. Scalars are 32 bytes,
// little-endian.

/** Points of this run, by their numbers. */
const POINTS: NativeExtension<RistrettoPoint[]> = { name: 'ristretto255', create: () => [] }
const MOST_POINTS = 10_000

const TOO_MANY_POINTS = 0x9_0004
const NO_HANDLE = 2n ** 64n - 1n
const INTERNAL_TYPE_ERROR = 2009
const UNIFORM_BYTES = 64

// Prices in simple instructions of 50 ns.
const SCALAR_PRICE = 20
const INVERT_PRICE = 2_200
const ADD_PRICE = 50
const CODEC_PRICE = 800
const HASH_TO_POINT_PRICE = 1_600
const MULTIPLY_PRICE = 9_400

function scalarOf(context: NativeContext, value: Value | undefined): bigint {
  const bytes = byteVectorOf(value)
  if (bytes.length !== RISTRETTO_LENGTH) context.fault(INTERNAL_TYPE_ERROR)
  return bytesToNumberLE(bytes) % RISTRETTO_ORDER
}

function pointOf(context: NativeContext, handle: Value | undefined): RistrettoPoint {
  const point = context.extension(POINTS)[indexOf(handle)]
  if (point === undefined) context.fault(INTERNAL_TYPE_ERROR, 'no ristretto255 point has this handle')
  return point
}

/** The handle that a `&RistrettoPoint` holds. */
function handleAt(reference: Value | undefined): Value | undefined {
  return structAt(reference).fields[0]
}

function keep(context: NativeContext, point: RistrettoPoint): readonly Value[] {
  const points = context.extension(POINTS)
  if (points.length >= MOST_POINTS) context.abort(TOO_MANY_POINTS)
  points.push(point)
  return [points.length - 1]
}

/** Keeps a point, under a new handle or instead of another point. */
function keepAt(
  context: NativeContext,
  handle: Value,
  isInPlace: Value | undefined,
  point: RistrettoPoint,
): readonly Value[] {
  if (!booleanOf(isInPlace)) return keep(context, point)
  context.extension(POINTS)[indexOf(handle)] = point
  return [handle]
}

const scalarNative =
  (combine: (left: bigint, right: bigint) => bigint): Native =>
  (context, [left, right]) => {
    context.charge(SCALAR_PRICE)
    return [toVector(encodeRistrettoScalar(combine(scalarOf(context, left), scalarOf(context, right))))]
  }

const pointNative =
  (combine: (left: RistrettoPoint, right: RistrettoPoint) => RistrettoPoint): Native =>
  (context, [left, right, isInPlace]) => {
    context.charge(ADD_PRICE)
    const handle = handleAt(left)
    const sum = combine(pointOf(context, handle), pointOf(context, handleAt(right)))
    return keepAt(context, handle!, isInPlace, sum)
  }

/** The sum of points times scalars, here or in a worker. */
function multiply(
  context: NativeContext,
  points: readonly RistrettoPoint[],
  scalars: readonly bigint[],
): RistrettoPoint {
  return sumOf(context, [...points.map((point) => point.toBytes()), ...scalars.map(encodeRistrettoScalar)])
}

/** The same of encoded points, and then their scalars. */
function sumOf(context: NativeContext, inputs: readonly Uint8Array[]): RistrettoPoint {
  const [sum] = context.compute({ name: 'ristretto255_multiply', inputs })
  return RISTRETTO.fromBytes(sum!)
}

const scalarOfInteger: Native = (context, [value]) => {
  context.charge(SCALAR_PRICE)
  return [toVector(encodeRistrettoScalar(integerOf(value)))]
}

export const RISTRETTO_NATIVES: Readonly<Record<string, Native>> = {
  '0x1::ristretto255::scalar_is_canonical_internal': (context, [value]) => {
    context.charge(SCALAR_PRICE)
    const bytes = byteVectorOf(value)
    return [bytes.length === RISTRETTO_LENGTH && bytesToNumberLE(bytes) < RISTRETTO_ORDER]
  },
  '0x1::ristretto255::scalar_add_internal': scalarNative((left, right) => left + right),
  '0x1::ristretto255::scalar_sub_internal': scalarNative((left, right) => left - right),
  '0x1::ristretto255::scalar_mul_internal': scalarNative((left, right) => left * right),
  '0x1::ristretto255::scalar_neg_internal': (context, [value]) => {
    context.charge(SCALAR_PRICE)
    return [toVector(encodeRistrettoScalar(-scalarOf(context, value)))]
  },
  '0x1::ristretto255::scalar_invert_internal': (context, [value]) => {
    context.charge(INVERT_PRICE)
    const scalar = scalarOf(context, value)
    return [toVector(encodeRistrettoScalar(scalar === 0n ? 0n : RISTRETTO.Fn.inv(scalar)))]
  },
  '0x1::ristretto255::scalar_reduced_from_32_bytes_internal': (context, [value]) => {
    context.charge(SCALAR_PRICE)
    return [toVector(encodeRistrettoScalar(scalarOf(context, value)))]
  },
  '0x1::ristretto255::scalar_uniform_from_64_bytes_internal': (context, [value]) => {
    context.charge(SCALAR_PRICE)
    const bytes = byteVectorOf(value)
    if (bytes.length !== UNIFORM_BYTES) context.fault(INTERNAL_TYPE_ERROR)
    return [toVector(encodeRistrettoScalar(bytesToNumberLE(bytes)))]
  },
  '0x1::ristretto255::scalar_from_u64_internal': scalarOfInteger,
  '0x1::ristretto255::scalar_from_u128_internal': scalarOfInteger,
  '0x1::ristretto255::scalar_from_sha512_internal': (context, [value]) => [
    toVector(encodeRistrettoScalar(bytesToNumberLE(hashBytes(context, 'sha2_512', byteVectorOf(value))))),
  ],
  '0x1::ristretto255::point_identity_internal': (context) => {
    context.charge(SCALAR_PRICE)
    return keep(context, RISTRETTO.ZERO)
  },
  '0x1::ristretto255::point_is_canonical_internal': (context, [bytes]) => {
    context.charge(CODEC_PRICE)
    return [decodeRistretto(byteVectorOf(bytes)) !== undefined]
  },
  '0x1::ristretto255::point_decompress_internal': (context, [bytes]) => {
    context.charge(CODEC_PRICE)
    const point = decodeRistretto(byteVectorOf(bytes))
    return point === undefined ? [NO_HANDLE, false] : [...keep(context, point), true]
  },
  '0x1::ristretto255::point_compress_internal': (context, [point]) => {
    context.charge(CODEC_PRICE)
    return [toVector(pointOf(context, handleAt(point)).toBytes())]
  },
  '0x1::ristretto255::point_clone_internal': (context, [handle]) => {
    context.charge(SCALAR_PRICE)
    return keep(context, pointOf(context, handle))
  },
  '0x1::ristretto255::point_equals': (context, [left, right]) => {
    context.charge(ADD_PRICE)
    return [pointOf(context, handleAt(left)).equals(pointOf(context, handleAt(right)))]
  },
  '0x1::ristretto255::point_add_internal': pointNative((left, right) => left.add(right)),
  '0x1::ristretto255::point_sub_internal': pointNative((left, right) => left.subtract(right)),
  '0x1::ristretto255::point_neg_internal': (context, [point, isInPlace]) => {
    context.charge(ADD_PRICE)
    const handle = handleAt(point)
    return keepAt(context, handle!, isInPlace, pointOf(context, handle).negate())
  },
  '0x1::ristretto255::point_mul_internal': (context, [point, scalar, isInPlace]) => {
    context.charge(MULTIPLY_PRICE)
    const handle = handleAt(point)
    const product = multiply(context, [pointOf(context, handle)], [scalarOf(context, scalar)])
    return keepAt(context, handle!, isInPlace, product)
  },
  '0x1::ristretto255::basepoint_mul_internal': (context, [scalar]) => {
    context.charge(MULTIPLY_PRICE / 3)
    return keep(context, RISTRETTO.BASE.multiplyUnsafe(scalarOf(context, scalar)))
  },
  '0x1::ristretto255::basepoint_double_mul_internal': (context, [scalar, point, baseScalar]) => {
    context.charge(MULTIPLY_PRICE)
    const points = [pointOf(context, handleAt(point)), RISTRETTO.BASE]
    return keep(context, multiply(context, points, [scalarOf(context, scalar), scalarOf(context, baseScalar)]))
  },
  '0x1::ristretto255::double_scalar_mul_internal': (context, [first, second, firstScalar, secondScalar]) => {
    context.charge(MULTIPLY_PRICE)
    const points = [pointOf(context, first), pointOf(context, second)]
    return keep(context, multiply(context, points, [scalarOf(context, firstScalar), scalarOf(context, secondScalar)]))
  },
  '0x1::ristretto255::multi_scalar_mul_internal': (context, [points, scalars]) => {
    const pointItems = itemsOf(valueAt(points))
    const scalarItems = itemsOf(valueAt(scalars))
    if (pointItems.length === 0 || pointItems.length !== scalarItems.length) context.fault(INTERNAL_TYPE_ERROR)
    context.charge((pointItems.length * MULTIPLY_PRICE) / Math.floor(Math.log2(pointItems.length + 1)))
    const all = encodeAll(context, pointItems, ENCODED_AT_ONCE.points, (item) =>
      pointOf(context, structOf(item).fields[0]).toBytes(),
    )
    const factors = encodeAll(context, scalarItems, ENCODED_AT_ONCE.scalars, (item) =>
      encodeRistrettoScalar(scalarOf(context, structOf(item).fields[0])),
    )
    return keep(context, sumOf(context, [...all, ...factors]))
  },
  '0x1::ristretto255::new_point_from_sha512_internal': (context, [value]) => {
    const bytes = byteVectorOf(value)
    context.charge(HASH_TO_POINT_PRICE)
    context.chargeBytes(bytes.length)
    return keep(context, ristrettoOfSha512(bytes))
  },
  '0x1::ristretto255::new_point_from_64_uniform_bytes_internal': (context, [value]) => {
    const bytes = byteVectorOf(value)
    context.charge(HASH_TO_POINT_PRICE)
    if (bytes.length !== UNIFORM_BYTES) context.fault(INTERNAL_TYPE_ERROR)
    return keep(context, ristrettoOfUniformBytes(bytes))
  },
}
