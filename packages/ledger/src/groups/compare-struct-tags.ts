import { ByteWriter } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { type FunctionSlot, type StructTag, type TypeTag, writeTypeTag } from '@ledger-state/type-tag'

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
  return kindNumber(a) - kindNumber(b)
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

const ENCODER = new TextEncoder()

function compareNames(a: string, b: string): number {
  return compareBytes(ENCODER.encode(a), ENCODER.encode(b))
}

function kindNumber(tag: TypeTag): number {
  const writer = new ByteWriter()
  writeTypeTag(writer, tag)
  return writer.toBytes()[0]!
}
