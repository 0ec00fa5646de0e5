import { type TypeTag, typeTagSize } from '@ledger-state/type-tag'
import type { SignatureToken } from './module-definition.js'

/**
 * A type of a signature with type arguments instead of type parameters. Undefined if it contains a function or a
 * reference, lacks a type argument, or has more parts than allowed.
 */
export function substitute(
  token: SignatureToken,
  typeArguments: readonly TypeTag[],
  mostParts?: number,
): TypeTag | undefined {
  const bounded = (tag: TypeTag) => (mostParts !== undefined && typeTagSize(tag) > mostParts ? undefined : tag)
  switch (token.kind) {
    case 'typeParameter':
      return typeArguments[token.index]
    case 'vector': {
      const element = substitute(token.element, typeArguments, mostParts)
      return element && bounded({ kind: 'vector', element })
    }
    case 'struct': {
      const { address, name: module } = token.module
      const parts = token.typeArguments.map((part) => substitute(part, typeArguments, mostParts))
      if (!parts.every((part) => part !== undefined)) return undefined
      return bounded({ kind: 'struct', address, module, name: token.name, typeArguments: parts })
    }
    case 'reference':
    case 'function':
      return undefined
    default:
      return token
  }
}

/** Whether a parameter is a signer, or a reference to one. */
export function isSigner(token: SignatureToken): boolean {
  return token.kind === 'signer' || (token.kind === 'reference' && token.to.kind === 'signer')
}
