import { addressToShortHex } from '@ledger-state/core'
import type { FunctionDefinition, SignatureToken } from '@ledger-state/move-module'
import { NATIVE_SIGNATURES } from './native-signatures.js'

/** How a module declares a native, compared with the native. */
export type NativeDeclaration =
  /** Another signature: the native must not run. */
  | 'refused'
  /** The same, but for the structs that these results name. */
  | { readonly foreignResults: readonly number[] }

const SAME: NativeDeclaration = { foreignResults: [] }

/**
 * Compares the declaration of a native with its signature. A hostile store may declare any. Parameters and results that are
 * structs may name other ones: natives check what they read of an argument. Natives that always end in a fault have no
 * signature, and any will do. Abilities of type parameters differ between frameworks and do not count.
 */
export function compareDeclaration(
  name: string,
  { typeParameters, parameters, results }: Pick<FunctionDefinition, 'typeParameters' | 'parameters' | 'results'>,
): NativeDeclaration {
  const expected = NATIVE_SIGNATURES[name]
  if (expected === undefined) return SAME
  const text = new TextMatch(expected)
  const foreignResults: number[] = []
  const isResult = (token: SignatureToken, at: number): boolean => {
    if (isTaken(text, token)) return true
    if (token.kind !== 'struct' || !text.takeStruct()) return false
    foreignResults.push(at)
    return true
  }
  const isParameter = (token: SignatureToken): boolean => {
    if (isTaken(text, token)) return true
    const value = token.kind === 'reference' && !token.mutable && text.take('&') ? token.to : token
    return value.kind === 'struct' && text.takeStruct()
  }
  const isSame =
    text.take(`<${typeParameters.length}>(`) &&
    areTaken(text, parameters, isParameter) &&
    text.take('): (') &&
    areTaken(text, results, isResult) &&
    text.take(')') &&
    text.isAtEnd
  return isSame ? { foreignResults } : 'refused'
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

  /** Whether a struct comes next, of any name and with any type arguments. */
  takeStruct(): boolean {
    const name = /0x[0-9a-f]+::\w+::\w+/y
    name.lastIndex = this.#at
    if (!name.test(this.#text)) return false
    this.#at = name.lastIndex
    if (this.#text[this.#at] === '<') this.#at = endOfArguments(this.#text, this.#at)
    return true
  }

  /** Whether no name and no type arguments go on here. */
  get isAtBoundary(): boolean {
    return !/[\w<]/.test(this.#text[this.#at] ?? '')
  }

  /** Does something, and comes back to this place if it is not true. */
  attempt(take: () => boolean): boolean {
    const start = this.#at
    if (take()) return true
    this.#at = start
    return false
  }
}

/** The place after the type arguments that begin with the `<` at `start`. */
function endOfArguments(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    if (text[at] === '<') depth++
    else if (text[at] === '>' && --depth === 0) return at + 1
  }
  return text.length
}

function areTaken(
  text: TextMatch,
  tokens: readonly SignatureToken[],
  isOne: (token: SignatureToken, at: number) => boolean,
): boolean {
  return tokens.every((token, at) => (at === 0 || text.take(', ')) && isOne(token, at))
}

/** Whether a token comes next. If it does not, the text stays where it is. */
function isTaken(text: TextMatch, token: SignatureToken): boolean {
  return text.attempt(() => isNext(text, token))
}

function isNext(text: TextMatch, token: SignatureToken): boolean {
  switch (token.kind) {
    case 'vector':
      return text.take('vector<') && isNext(text, token.element) && text.take('>')
    case 'reference':
      return text.take(token.mutable ? '&mut ' : '&') && isNext(text, token.to)
    case 'typeParameter':
      return text.take(`T${token.index}`)
    case 'struct': {
      const { module, name, typeArguments } = token
      if (!text.take(`${addressToShortHex(module.address)}::${module.name}::${name}`)) return false
      const isArgument = (argument: SignatureToken) => isNext(text, argument)
      if (typeArguments.length === 0) return text.isAtBoundary
      return text.take('<') && areTaken(text, typeArguments, isArgument) && text.take('>')
    }
    case 'function':
      return false
    default:
      return text.take(token.kind)
  }
}
