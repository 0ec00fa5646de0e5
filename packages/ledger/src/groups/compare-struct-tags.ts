import { compareBytes } from '@ledger-state/core/bytes'
import { type FunctionSlot, type StructTag, TYPE_TAG_VARIANTS, type TypeTag } from '@ledger-state/type-tag'

/**
 * Compares types in the order in which the reference lists the members of a group: by address, module and name as text,
 * then by type arguments. Groups store their members in another order, the order of their bytes.
 */
export function compareStructTags(a: StructTag, b: StructTag): number {
  return (
    compareBytes(a.address, b.address) ||
    compareNames(a.module, b.module) ||
    compareNames(a.name, b.name) ||
    compareLists(a.typeArguments, b.typeArguments, compareTypeTags)
  )
}

/** Compares type tags. Tags of different kinds have the order of their numbers in BCS. */
function compareTypeTags(a: TypeTag, b: TypeTag): number {
  if (a.kind === 'struct' && b.kind === 'struct') return compareStructTags(a, b)
  if (a.kind === 'vector' && b.kind === 'vector') return compareTypeTags(a.element, b.element)
  if (a.kind === 'function' && b.kind === 'function') {
    return (
      compareLists(a.parameters, b.parameters, compareSlots) ||
      compareLists(a.results, b.results, compareSlots) ||
      a.abilities - b.abilities
    )
  }
  return TYPE_TAG_VARIANTS[a.kind] - TYPE_TAG_VARIANTS[b.kind]
}

const PASSINGS = ['reference', 'mutableReference', 'value'] as const

function compareSlots(a: FunctionSlot, b: FunctionSlot): number {
  return PASSINGS.indexOf(a.passing) - PASSINGS.indexOf(b.passing) || compareTypeTags(a.type, b.type)
}

function compareLists<T>(a: readonly T[], b: readonly T[], compare: (a: T, b: T) => number): number {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const order = compare(a[at]!, b[at]!)
    if (order !== 0) return order
  }
  return a.length - b.length
}

/**
 * Compares names by their UTF-8, without encoding them: a group may have 20,000 members, which takes 300,000
 * comparisons. In UTF-8 the characters of surrogate pairs are after all others.
 */
function compareNames(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  for (let at = 0; at < shared; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (left !== right) return rank(left) - rank(right)
  }
  return a.length - b.length
}

function rank(unit: number): number {
  const isSurrogate = unit >= 0xd800 && unit < 0xe000
  return isSurrogate ? unit + 0x10000 : unit
}
