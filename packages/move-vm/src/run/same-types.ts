import type { OpenType } from '../load/open-type.js'
import type { TypeTable } from './type-table.js'

/** Whether two types of code, of any modules, are the same. Type parameters are the same if their indexes are. */
function areSameTypes(a: OpenType, b: OpenType, names: TypeTable): boolean {
  if (a === b) return true
  if (a.kind !== b.kind || a.size !== b.size) return false
  switch (a.kind) {
    case 'vector':
      return areSameTypes(a.element, (b as typeof a).element, names)
    case 'struct': {
      const { struct, typeArguments } = b as typeof a
      return names.nameOf(a.struct) === names.nameOf(struct) && areSameLists(a.typeArguments, typeArguments, names)
    }
    case 'typeParameter':
      return a.index === (b as typeof a).index
    case 'reference': {
      const { mutable, to } = b as typeof a
      return a.mutable === mutable && areSameTypes(a.to, to, names)
    }
    case 'function': {
      const { parameters, results, abilities } = b as typeof a
      return (
        a.abilities === abilities &&
        areSameLists(a.parameters, parameters, names) &&
        areSameLists(a.results, results, names)
      )
    }
    default:
      return true
  }
}

/** Whether two lists of types are the same. */
export function areSameLists(a: readonly OpenType[], b: readonly OpenType[], names: TypeTable): boolean {
  return a.length === b.length && a.every((type, at) => areSameTypes(type, b[at]!, names))
}
