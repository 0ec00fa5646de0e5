import { compareBytes } from '@ledger-state/core/bytes'
import type { Meter } from '../budget/meter.js'
import { malformedCode } from '../faults/vm-fault.js'
import type { Type } from '../types/type.js'
import { ByteVector } from './byte-vector.js'
import { MAX_VALUE_DEPTH, valueTooDeep } from './copy-value.js'
import { readReference } from './reference-access.js'
import { ByteReference, ClosureValue, Reference, StructValue, type Value, VectorValue } from './value.js'

const PARTS_PER_CHARGE = 8

/** Whether two values of one type are equal; of two references, what they point at. @throws VmFault */
export function valuesEqual(a: Value, b: Value, meter: Meter, depth = 1): boolean {
  if (depth > MAX_VALUE_DEPTH) throw valueTooDeep()
  if (typeof a !== 'object' || typeof b !== 'object') return a === b
  if (isReference(a) && isReference(b)) return valuesEqual(readReference(a), readReference(b), meter, depth)
  if (a instanceof ByteVector && b instanceof ByteVector) {
    if (a.length !== b.length) return false
    meter.chargeBytes(a.length)
    return compareBytes(a.view(), b.view()) === 0
  }
  if (a instanceof StructValue && b instanceof StructValue) {
    return a.variant === b.variant && allEqual(a.fields, b.fields, meter, depth)
  }
  if (a instanceof VectorValue && b instanceof VectorValue) return allEqual(a.items, b.items, meter, depth)
  if (a instanceof ClosureValue && b instanceof ClosureValue) {
    return a.mask === b.mask && compareTargets(a, b) === 0 && allEqual(a.captured, b.captured, meter, depth)
  }
  throw malformedCode('a comparison of values of different types')
}

function allEqual(a: readonly Value[], b: readonly Value[], meter: Meter, depth: number): boolean {
  if (a.length !== b.length) return false
  meter.chargeBytes(PARTS_PER_CHARGE * (1 + a.length))
  for (let at = 0; at < a.length; at++) if (!valuesEqual(a[at]!, b[at]!, meter, depth + 1)) return false
  return true
}

/** The order of two values of one type as `cmp::compare` has it: below 0, 0, above 0. @throws VmFault */
export function compareValues(a: Value, b: Value, meter: Meter, depth = 1): number {
  if (depth > MAX_VALUE_DEPTH) throw valueTooDeep()
  if (typeof a !== 'object' || typeof b !== 'object') return a === b ? 0 : a < b ? -1 : 1
  if (isReference(a) && isReference(b)) return compareValues(readReference(a), readReference(b), meter, depth)
  if (a instanceof ByteVector && b instanceof ByteVector) {
    meter.chargeBytes(Math.min(a.length, b.length))
    return compareBytes(a.view(), b.view())
  }
  if (a instanceof StructValue && b instanceof StructValue) {
    return a.variant - b.variant || compareAll(a.fields, b.fields, meter, depth)
  }
  if (a instanceof VectorValue && b instanceof VectorValue) return compareAll(a.items, b.items, meter, depth)
  if (a instanceof ClosureValue && b instanceof ClosureValue) {
    return compareTargets(a, b) || compareAll(a.captured, b.captured, meter, depth)
  }
  throw malformedCode('a comparison of values of different types')
}

function compareAll(a: readonly Value[], b: readonly Value[], meter: Meter, depth: number): number {
  const shared = Math.min(a.length, b.length)
  meter.chargeBytes(PARTS_PER_CHARGE * (1 + shared))
  for (let at = 0; at < shared; at++) {
    const order = compareValues(a[at]!, b[at]!, meter, depth + 1)
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** Compares by module, name, and type arguments. */
function compareTargets({ target: a }: ClosureValue, { target: b }: ClosureValue): number {
  const order = compareTexts(a.address, b.address) || compareTexts(a.module, b.module) || compareTexts(a.name, b.name)
  return order || compareTypes(a.typeArguments, b.typeArguments)
}

/** Not by the ids of types, which differ from run to run. */
function compareTypes(a: readonly Type[], b: readonly Type[]): number {
  for (let at = 0; at < a.length && at < b.length; at++) {
    if (a[at] !== b[at]) return compareTexts(typeText(a[at]!), typeText(b[at]!))
  }
  return a.length - b.length
}

function typeText(type: Type): string {
  const all = (types: readonly Type[]) => types.map(typeText).join()
  switch (type.kind) {
    case 'vector':
      return `vector<${typeText(type.element)}>`
    case 'struct':
      return `${type.address}::${type.module}::${type.name}<${all(type.typeArguments)}>`
    case 'reference':
      return `&${typeText(type.to)}`
    case 'function':
      return `|${all(type.parameters)}|(${all(type.results)})`
    default:
      return type.kind
  }
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}

function isReference(value: Value): value is Reference | ByteReference {
  return value instanceof Reference || value instanceof ByteReference
}
