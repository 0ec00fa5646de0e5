import { numberToBytesLE } from '@noble/curves/utils.js'
import {
  type AlgebraStructure,
  type CurveName,
  findAlgebraStructure,
  PAIRING_CURVES,
  type PairingCurve,
} from '../crypto/algebra-structures.js'
import type { Type } from '../types/type.js'
import type { Value } from '../values/value.js'
import { bytesAt, indexOf, integerOf, itemsOf, toVector } from './arguments.js'
import { ENCODED_AT_ONCE, encodeAll } from './encode-all.js'
import type { Native, NativeContext, NativeExtension } from './native.js'

// Elements of `0x1::crypto_algebra`. They are kept in the run, and Move code knows them by their numbers. Structures,
// formats and suites are given as type arguments, which are structs of `0x1::bls12381_algebra` and
// `0x1::bn254_algebra`.

interface StoredElement {
  readonly representation: string
  readonly element: unknown
}

interface ElementStore {
  readonly elements: StoredElement[]
  bytes: number
}

const ELEMENTS: NativeExtension<ElementStore> = { name: 'crypto_algebra', create: () => ({ elements: [], bytes: 0 }) }
const MOST_BYTES = 1 << 20

const SIZES_DIFFER = 0x1_0002
const TOO_MANY_BYTES = 0x9_0003
const NOT_IMPLEMENTED = 0xc_0001
const INVARIANT_VIOLATION = 2000

const FLAG: Readonly<Record<CurveName, number>> = { bls12381: 13, bn254: 43 }
const FRAMEWORK = '1'.padStart(64, '0')
const ALGEBRA_MODULE = /^(bls12381|bn254)_algebra$/
const HASH_SUITE = 'XmdSha256SswuRo'

const SMALL_PRICE = 20
const HASH_BYTES_PER_INSTRUCTION = 4

type Structure = AlgebraStructure<unknown>

interface Named {
  readonly curve: CurveName
  readonly name: string
}

/** The curve and the name of a struct of its module; undefined for other types. */
function readName(type: Type | undefined): Named | undefined {
  if (type?.kind !== 'struct' || type.address !== FRAMEWORK || type.typeArguments.length > 0) return undefined
  const curve = ALGEBRA_MODULE.exec(type.module)?.[1]
  return curve === undefined ? undefined : { curve: curve as CurveName, name: type.name }
}

/** The structure that a type argument names, if its curve is switched on. */
function structureOf(context: NativeContext, index: number): Structure {
  const named = readName(context.typeArguments[index])
  if (named === undefined || !context.isFeatureOn(FLAG[named.curve])) context.abort(NOT_IMPLEMENTED)
  return findAlgebraStructure(`${named.curve} ${named.name}`) ?? context.abort(NOT_IMPLEMENTED)
}

function invariantViolation(context: NativeContext): never {
  return context.fault(INVARIANT_VIOLATION, 'aptos_std::crypto_algebra native abort')
}

function elementOf(context: NativeContext, structure: Structure, handle: Value | undefined): unknown {
  const stored = context.extension(ELEMENTS).elements[indexOf(handle)]
  return stored?.representation === structure.representation ? stored.element : invariantViolation(context)
}

/** Keeps an element and returns its number. */
function keep(context: NativeContext, structure: Structure, element: unknown): number {
  const store = context.extension(ELEMENTS)
  if (store.bytes + structure.elementBytes > MOST_BYTES) context.abort(TOO_MANY_BYTES)
  store.bytes += structure.elementBytes
  store.elements.push({ representation: structure.representation, element })
  return store.elements.length - 1
}

function textBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function nameOf({ curve, name }: Structure): Uint8Array {
  return textBytes(`${curve} ${name}`)
}

/** Elements for a task, encoded in slices. */
function encodeElements(
  context: NativeContext,
  structure: Structure,
  handles: readonly Value[],
  atOnce: number,
): readonly Uint8Array[] {
  return encodeAll(context, handles, atOnce, (handle) =>
    structure.transport.encode(elementOf(context, structure, handle)),
  )
}

/** An element that a task gave back. */
function elementOfTask(context: NativeContext, structure: Structure, bytes: Uint8Array | undefined): unknown {
  return (bytes && structure.transport.decode(bytes)) ?? invariantViolation(context)
}

/** Makes a native that makes one element of its first structure from its arguments. */
function making(make: (context: NativeContext, structure: Structure, args: readonly Value[]) => unknown): Native {
  return (context, args) => {
    const structure = structureOf(context, 0)
    return [keep(context, structure, make(context, structure, args))]
  }
}

/** Makes a native that combines two elements, or changes one, as every structure can. */
function adding(combine: (structure: Structure, left: unknown, right: unknown) => unknown, operands: 1 | 2): Native {
  return making((context, structure, [left, right]) => {
    context.charge(structure.prices.add)
    const first = elementOf(context, structure, left)
    return combine(structure, first, operands === 2 ? elementOf(context, structure, right) : first)
  })
}

/** Makes a native as `adding` does, but only for fields. */
function multiplying(
  combine: (field: NonNullable<Structure['field']>, left: unknown, right: unknown) => unknown,
  operands: 1 | 2,
): Native {
  return making((context, structure, [left, right]) => {
    const { field } = structure
    if (field === undefined) return context.abort(NOT_IMPLEMENTED)
    context.charge(structure.prices.multiply)
    const first = elementOf(context, structure, left)
    return combine(field, first, operands === 2 ? elementOf(context, structure, right) : first)
  })
}

/** Makes a native that may have no result. It returns whether it has one, and the element's number or 0. */
function dividing(isDivision: boolean): Native {
  return (context, [left, right]) => {
    const structure = structureOf(context, 0)
    const { field } = structure
    if (field === undefined) return context.abort(NOT_IMPLEMENTED)
    context.charge(structure.prices.invert)
    const dividend = isDivision ? elementOf(context, structure, left) : structure.one()
    const inverse = field.invert(elementOf(context, structure, isDivision ? right : left))
    return inverse === undefined ? [false, 0] : [true, keep(context, structure, field.multiply(dividend, inverse))]
  }
}

/** The group of the first type argument and the scalar field of the second; both must be of one curve. */
function groupAndScalars(context: NativeContext): { structure: Structure; scalars: Structure } {
  const structure = structureOf(context, 0)
  const named = readName(context.typeArguments[1])
  if (structure.group === undefined || named?.curve !== structure.curve || named.name !== 'Fr') {
    context.abort(NOT_IMPLEMENTED)
  }
  return { structure, scalars: structureOf(context, 1) }
}

/** The curve with the three type arguments as G1, G2 and Gt. */
function pairingCurveOf(context: NativeContext): PairingCurve {
  const names = context.typeArguments.map(readName)
  const curve = names[0]?.curve
  const isPairing = names.every((named, index) => named?.curve === curve && named?.name === ['G1', 'G2', 'Gt'][index])
  if (curve === undefined || !isPairing || !context.isFeatureOn(FLAG[curve])) context.abort(NOT_IMPLEMENTED)
  return PAIRING_CURVES[curve]
}

function pair(context: NativeContext, curve: PairingCurve, g1: readonly Value[], g2: readonly Value[]): Value[] {
  const { g1: first, g2: second, gt } = curve as { g1: Structure; g2: Structure; gt: Structure } & PairingCurve
  const inputs = [
    textBytes(curve.curve),
    ...encodeElements(context, first, g1, ENCODED_AT_ONCE.points),
    ...encodeElements(context, second, g2, ENCODED_AT_ONCE.points),
  ]
  const [product] = context.compute({ name: 'algebra_pair', inputs })
  return [keep(context, gt, elementOfTask(context, gt, product))]
}

/**
 * Checks that the two type arguments are `Fq12` and `Gt`, in the order that is given, of a curve that is switched on.
 */
function expectCasting(context: NativeContext, fq12: number, gt: number): void {
  const upper = readName(context.typeArguments[fq12])
  const lower = readName(context.typeArguments[gt])
  const isCast = upper?.name === 'Fq12' && lower?.name === 'Gt' && upper.curve === lower.curve
  if (!isCast || !context.isFeatureOn(FLAG[upper.curve])) context.abort(NOT_IMPLEMENTED)
}

/** The format that the second type argument names, if its curve is switched on. */
function formatOf(context: NativeContext, structure: Structure): string {
  const named = readName(context.typeArguments[1])
  if (named?.curve !== structure.curve || !structure.formats.has(named.name)) context.abort(NOT_IMPLEMENTED)
  return named.name
}

const NATIVES: Readonly<Record<string, Native>> = {
  zero_internal: making((context, structure) => {
    context.charge(SMALL_PRICE)
    return structure.zero
  }),
  one_internal: making((context, structure) => {
    context.charge(SMALL_PRICE)
    if (structure.name !== 'Gt') return structure.one()
    const { curve, g1, g2, pairingPrice } = PAIRING_CURVES[structure.curve]
    context.charge(pairingPrice)
    const inputs = [textBytes(curve), g1.transport.encode(g1.one()), g2.transport.encode(g2.one())]
    return elementOfTask(context, structure, context.compute({ name: 'algebra_pair', inputs })[0])
  }),
  from_u64_internal: making((context, structure, [value]) => {
    if (structure.field === undefined) return context.abort(NOT_IMPLEMENTED)
    context.charge(structure.prices.add)
    return structure.field.fromInteger(integerOf(value))
  }),
  add_internal: adding((structure, left, right) => structure.add(left, right), 2),
  sub_internal: adding((structure, left, right) => structure.subtract(left, right), 2),
  neg_internal: adding((structure, element) => structure.negate(element), 1),
  double_internal: adding((structure, element) => structure.double(element), 1),
  mul_internal: multiplying((field, left, right) => field.multiply(left, right), 2),
  sqr_internal: multiplying((field, element) => field.square(element), 1),
  div_internal: dividing(true),
  inv_internal: dividing(false),
  eq_internal: (context, [left, right]) => {
    const structure = structureOf(context, 0)
    context.charge(structure.prices.add)
    return [structure.isEqual(elementOf(context, structure, left), elementOf(context, structure, right))]
  },
  order_internal: (context) => {
    const { order } = structureOf(context, 0)
    context.charge(SMALL_PRICE)
    return [toVector(numberToBytesLE(order, Math.ceil(order.toString(16).length / 2)))]
  },
  scalar_mul_internal: (context, [element, scalar]) => {
    const { structure, scalars } = groupAndScalars(context)
    context.charge(structure.prices.scale)
    const inputs = [
      nameOf(structure),
      structure.transport.encode(elementOf(context, structure, element)),
      scalars.transport.encode(elementOf(context, scalars, scalar)),
    ]
    const [product] = context.compute({ name: 'algebra_scale', inputs })
    return [keep(context, structure, elementOfTask(context, structure, product))]
  },
  multi_scalar_mul_internal: (context, [elementList, scalarList]) => {
    const { structure, scalars } = groupAndScalars(context)
    if (structure.group?.scaleAll === undefined) context.abort(NOT_IMPLEMENTED)
    const elements = itemsOf(elementList)
    const factors = itemsOf(scalarList)
    if (elements.length !== factors.length) context.abort(SIZES_DIFFER)
    context.charge(structure.prices.scale * Math.ceil((elements.length + 1) / Math.log2(elements.length + 2)))
    const inputs = [
      nameOf(structure),
      ...encodeElements(context, structure, elements, ENCODED_AT_ONCE.points),
      ...encodeElements(context, scalars, factors, ENCODED_AT_ONCE.scalars),
    ]
    const [sum] = context.compute({ name: 'algebra_scale_all', inputs })
    return [keep(context, structure, elementOfTask(context, structure, sum))]
  },
  pairing_internal: (context, [g1, g2]) => {
    const curve = pairingCurveOf(context)
    context.charge(curve.pairingPrice)
    return pair(context, curve, [g1!], [g2!])
  },
  multi_pairing_internal: (context, [g1List, g2List]) => {
    const curve = pairingCurveOf(context)
    const g1 = itemsOf(g1List)
    const g2 = itemsOf(g2List)
    if (g1.length !== g2.length) context.abort(SIZES_DIFFER)
    context.charge(curve.pairingPrice / 2 + g1.length * curve.furtherPairPrice)
    return pair(context, curve, g1, g2)
  },
  serialize_internal: (context, [handle]) => {
    const structure = structureOf(context, 0)
    const format = structure.formats.get(formatOf(context, structure))!
    context.charge(structure.prices.add + SMALL_PRICE)
    const bytes = format.encode(elementOf(context, structure, handle))
    context.chargeBytes(bytes.length)
    return [toVector(bytes)]
  },
  deserialize_internal: (context, [reference]) => {
    const structure = structureOf(context, 0)
    const format = formatOf(context, structure)
    const bytes = bytesAt(reference)
    context.charge(structure.prices.decode)
    context.chargeBytes(bytes.length)
    if (structure.group === undefined) {
      const element = structure.formats.get(format)!.decode(bytes)
      return element === undefined ? [false, 0] : [true, keep(context, structure, element)]
    }
    const inputs = [nameOf(structure), textBytes(format), bytes]
    const [element] = context.compute({ name: 'algebra_deserialize', inputs })
    if (element === undefined) return [false, 0]
    return [true, keep(context, structure, elementOfTask(context, structure, element))]
  },
  hash_to_internal: (context, [tag, message]) => {
    const structure = structureOf(context, 0)
    const suite = readName(context.typeArguments[1])
    const isSuite = suite?.curve === structure.curve && suite.name === `Hash${structure.name}${HASH_SUITE}`
    if (!isSuite || structure.group?.hashTo === undefined) context.abort(NOT_IMPLEMENTED)
    const inputs = [nameOf(structure), bytesAt(tag), bytesAt(message)]
    const bytes = inputs[1]!.length + inputs[2]!.length
    context.charge(structure.prices.hashTo + bytes / HASH_BYTES_PER_INSTRUCTION)
    context.chargeBytes(bytes)
    const [point] = context.compute({ name: 'algebra_hash_to', inputs })
    return [keep(context, structure, elementOfTask(context, structure, point))]
  },
  upcast_internal: (context, [handle]) => {
    expectCasting(context, 1, 0)
    context.charge(SMALL_PRICE)
    elementOf(context, structureOf(context, 0), handle)
    return [handle!]
  },
  downcast_internal: (context, [handle]) => {
    expectCasting(context, 0, 1)
    const gt = structureOf(context, 1)
    context.charge(gt.prices.decode)
    const inputs = [nameOf(gt), textBytes('FormatGt'), gt.transport.encode(elementOf(context, gt, handle))]
    const [element] = context.compute({ name: 'algebra_deserialize', inputs })
    return [element !== undefined, handle!]
  },
}

export const ALGEBRA_NATIVES: Readonly<Record<string, Native>> = Object.fromEntries(
  Object.entries(NATIVES).map(([name, native]) => [`0x1::crypto_algebra::${name}`, native]),
)
