import { addressToShortHex } from '@ledger-state/core'
import type { FunctionDefinition, SignatureToken } from '@ledger-state/move-module'
import { NATIVE_SIGNATURES } from './native-signatures.js'

/**
 * Whether a module declares a native with the signature that the native has. A hostile store may declare any. Natives
 * that always end in a fault have no signature, and any will do. Abilities of type parameters differ between frameworks
 * and do not count.
 */
export function isNativeSignature(
  name: string,
  { typeParameters, parameters, results }: Pick<FunctionDefinition, 'typeParameters' | 'parameters' | 'results'>,
): boolean {
  const expected = NATIVE_SIGNATURES[name]
  if (expected === undefined) return true
  const text = new TextMatch(expected)
  return (
    text.take(`<${typeParameters.length}>(`) &&
    areTaken(text, parameters) &&
    text.take('): (') &&
    areTaken(text, results) &&
    text.take(')') &&
    text.isAtEnd
  )
}

/** A text that is compared with pieces. A comparison of a hostile signature ends at the first difference. */
class TextMatch {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length
  }

  /** Whether the piece comes next. */
  take(piece: string): boolean {
    if (!this.#text.startsWith(piece, this.#at)) return false
    this.#at += piece.length
    return true
  }
}

function areTaken(text: TextMatch, tokens: readonly SignatureToken[]): boolean {
  return tokens.every((token, at) => (at === 0 || text.take(', ')) && isTaken(text, token))
}

function isTaken(text: TextMatch, token: SignatureToken): boolean {
  switch (token.kind) {
    case 'vector':
      return text.take('vector<') && isTaken(text, token.element) && text.take('>')
    case 'reference':
      return text.take(token.mutable ? '&mut ' : '&') && isTaken(text, token.to)
    case 'typeParameter':
      return text.take(`T${token.index}`)
    case 'struct': {
      const { module, name, typeArguments } = token
      if (!text.take(`${addressToShortHex(module.address)}::${module.name}::${name}`)) return false
      return typeArguments.length === 0 || (text.take('<') && areTaken(text, typeArguments) && text.take('>'))
    }
    case 'function':
      return false
    default:
      return text.take(token.kind)
  }
}
