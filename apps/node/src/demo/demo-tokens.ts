import { parseAddress } from '@ledger-state/core'
import type { ModuleId, SignatureToken } from '@ledger-state/move-module'
import { parseTypeTag, type TypeTag } from '@ledger-state/type-tag'

/** Type of the group of the resources of an object. */
export const OBJECT_GROUP = '0x1::object::ObjectGroup'

/** The first type parameter. */
export const T0: SignatureToken = { kind: 'typeParameter', index: 0 }

/** The token of a type without type parameters. */
export function tokenOf(text: string): SignatureToken {
  return typeTagToToken(parseTypeTag(text))
}

/** The token of a struct, with type arguments. */
export function structOf(text: string, ...typeArguments: SignatureToken[]): SignatureToken & { kind: 'struct' } {
  const [address, module, name] = text.split('::') as [string, string, string]
  return { kind: 'struct', module: moduleIdOf(`${address}::${module}`), name, typeArguments }
}

/** The id of a module from `ADDRESS::NAME`. */
export function moduleIdOf(text: string): ModuleId {
  const [address, name] = text.split('::') as [string, string]
  return { address: parseAddress(address), name }
}

export function typeTagToToken(tag: TypeTag): SignatureToken {
  switch (tag.kind) {
    case 'vector':
      return { kind: 'vector', element: typeTagToToken(tag.element) }
    case 'struct': {
      const { address, module: name } = tag
      return {
        kind: 'struct',
        module: { address, name },
        name: tag.name,
        typeArguments: tag.typeArguments.map(typeTagToToken),
      }
    }
    case 'function':
      throw new TypeError('the demonstration has no function types')
    default:
      return tag
  }
}
