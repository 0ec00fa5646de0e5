import { compareBytes } from '@ledger-state/core/bytes'
import type { StructTag, TypeTag } from '@ledger-state/type-tag'

/** The name of a struct or enum, whatever its type arguments. */
export type StructName = Pick<StructTag, 'address' | 'module' | 'name'>

/** Whether a tag is of a type, or has it among its type arguments. Tags nest no deeper than their reader lets them. */
export function tagNames(tag: TypeTag, type: StructName): boolean {
  switch (tag.kind) {
    case 'vector':
      return tagNames(tag.element, type)
    case 'struct':
      return isSameType(tag, type) || tag.typeArguments.some((one) => tagNames(one, type))
    case 'function':
      return [...tag.parameters, ...tag.results].some((slot) => tagNames(slot.type, type))
    default:
      return false
  }
}

export function isSameType(a: StructName, b: StructName): boolean {
  return a.name === b.name && a.module === b.module && compareBytes(a.address, b.address) === 0
}
