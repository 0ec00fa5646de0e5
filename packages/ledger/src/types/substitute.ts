import type { SignatureToken } from '@ledger-state/move-module'
import type { TypeTag } from '@ledger-state/type-tag'

/** The type of a parameter, with type arguments in place of type parameters. Undefined if it names a function type. */
export function substitute(token: SignatureToken, typeArguments: readonly TypeTag[]): TypeTag | undefined {
  switch (token.kind) {
    case 'typeParameter':
      return typeArguments[token.index]
    case 'vector': {
      const element = substitute(token.element, typeArguments)
      return element && { kind: 'vector', element }
    }
    case 'struct': {
      const { module, name } = token
      const given = token.typeArguments.map((one) => substitute(one, typeArguments)).filter((one) => one !== undefined)
      if (given.length < token.typeArguments.length) return undefined
      return { kind: 'struct', address: module.address, module: module.name, name, typeArguments: given }
    }
    case 'reference':
    case 'function':
      return undefined
    default:
      return { kind: token.kind }
  }
}

/** Whether a parameter is a signer, or a reference to one. */
export function isSigner(token: SignatureToken): boolean {
  return token.kind === 'signer' || (token.kind === 'reference' && token.to.kind === 'signer')
}
