import type { SignatureToken } from '@ledger-state/move-module'

/** Visits a type and all types in it. Returns their number. */
export function visitTypes(type: SignatureToken, visit: (type: SignatureToken) => void): number {
  visit(type)
  return partsOf(type).reduce((sum, part) => sum + visitTypes(part, visit), 1)
}

function partsOf(type: SignatureToken): readonly SignatureToken[] {
  switch (type.kind) {
    case 'vector':
      return [type.element]
    case 'reference':
      return [type.to]
    case 'struct':
      return type.typeArguments
    case 'function':
      return [...type.parameters, ...type.results]
    default:
      return []
  }
}
