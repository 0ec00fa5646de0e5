import { TYPE_TAG_VARIANTS } from '@ledger-state/type-tag'
import type { Meter } from '../budget/meter.js'
import type { FunctionType, StructType, Type } from '../types/type.js'

// The order of types in `cmp::compare`: that of their tags. Equal types are one object, so only one pair of types on
// each level has to be looked into.

/** Bytes that are charged for each pair of types. */
const PAIR_BYTES = 8
/** Ways to pass a parameter or a result, in order. */
const PASSING = { reference: 0, mutableReference: 1, value: 2 } as const

/** Compares two lists of types: below 0, 0, or above 0. @throws VmFault if the budget is exhausted */
export function compareTypes(a: readonly Type[], b: readonly Type[], meter: Meter): number {
  const shared = Math.min(a.length, b.length)
  meter.chargeBytes(PAIR_BYTES * shared)
  for (let at = 0; at < shared; at++) {
    if (a[at] !== b[at]) return compareType(a[at]!, b[at]!, meter)
  }
  return a.length - b.length
}

function compareType(a: Type, b: Type, meter: Meter): number {
  const order = variantOf(a) - variantOf(b)
  if (order !== 0) return order
  switch (a.kind) {
    case 'vector':
      return compareTypes([a.element], [(b as typeof a).element], meter)
    case 'struct':
      return compareStructs(a, b as StructType, meter)
    case 'reference':
      return compareTypes([a.to], [(b as typeof a).to], meter)
    case 'function':
      return compareFunctions(a, b as FunctionType, meter)
    default:
      return 0
  }
}

function compareStructs(a: StructType, b: StructType, meter: Meter): number {
  meter.chargeBytes(Math.min(a.module.length, b.module.length) + Math.min(a.name.length, b.name.length))
  return (
    compareTexts(a.address, b.address) ||
    compareTexts(a.module, b.module) ||
    compareTexts(a.name, b.name) ||
    compareTypes(a.typeArguments, b.typeArguments, meter)
  )
}

function compareFunctions(a: FunctionType, b: FunctionType, meter: Meter): number {
  return (
    compareSlots(a.parameters, b.parameters, meter) ||
    compareSlots(a.results, b.results, meter) ||
    a.abilities - b.abilities
  )
}

/** Compares parameters or results: first the ways in which they are passed, then their types. */
function compareSlots(a: readonly Type[], b: readonly Type[], meter: Meter): number {
  const shared = Math.min(a.length, b.length)
  meter.chargeBytes(PAIR_BYTES * shared)
  for (let at = 0; at < shared; at++) {
    const [left, right] = [a[at]!, b[at]!]
    if (left !== right) return passingOf(left) - passingOf(right) || compareType(left, right, meter)
  }
  return a.length - b.length
}

function passingOf(type: Type): number {
  if (type.kind !== 'reference') return PASSING.value
  return type.mutable ? PASSING.mutableReference : PASSING.reference
}

/** Variant of the tag; -1 for a reference, which has none and is compared with references only. */
function variantOf({ kind }: Type): number {
  return kind === 'reference' ? -1 : TYPE_TAG_VARIANTS[kind]
}

/** Compares two texts of ASCII: below 0, 0, or above 0. */
export function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}
