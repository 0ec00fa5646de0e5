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

/** The signature of a native: the texts of its types. */
interface ExpectedSignature {
  readonly typeParameterCount: number
  readonly parameters: readonly string[]
  readonly results: readonly string[]
}

const EXPECTED: ReadonlyMap<string, ExpectedSignature> = new Map(
  Object.entries(NATIVE_SIGNATURES).map(([name, text]) => [name, parseSignature(text)]),
)

function parseSignature(text: string): ExpectedSignature {
  const [, count, parameters, results] = /^<(\d+)>\((.*)\): \((.*)\)$/.exec(text)!
  return { typeParameterCount: Number(count), parameters: splitList(parameters!), results: splitList(results!) }
}

/** The parts of a list, between the commas that are not inside of type arguments. */
function splitList(text: string): readonly string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '<') depth++
    else if (text[at] === '>') depth--
    else if (text[at] === ',' && depth === 0) {
      parts.push(text.slice(start, at))
      start = at + ', '.length
    }
  }
  return text === '' ? parts : [...parts, text.slice(start)]
}

/**
 * Compares the declaration of a native with its signature. A hostile store may declare any. Struct parameters and
 * results may name other structs: natives check the parts of an argument that they read. Natives that always end in a
 * fault have no signature, and any will do. Abilities of type parameters differ between frameworks and do not count.
 */
export function compareDeclaration(
  name: string,
  { typeParameters, parameters, results }: Pick<FunctionDefinition, 'typeParameters' | 'parameters' | 'results'>,
): NativeDeclaration {
  const expected = EXPECTED.get(name)
  if (expected === undefined) return SAME
  if (typeParameters.length !== expected.typeParameterCount) return 'refused'
  if (!areTexts(parameters, expected.parameters, isParameter)) return 'refused'
  if (!areTexts(results, expected.results, isResult)) return 'refused'
  const foreignResults = [...results.keys()].filter((at) => !isText(results[at]!, expected.results[at]!))
  return { foreignResults }
}

function isParameter(token: SignatureToken, text: string): boolean {
  if (isText(token, text)) return true
  if (token.kind === 'reference' && !token.mutable && text.startsWith('&')) return isResult(token.to, text.slice(1))
  return isResult(token, text)
}

/** Whether a token has this text, or both are structs. */
function isResult(token: SignatureToken, text: string): boolean {
  return isText(token, text) || (token.kind === 'struct' && STRUCT.test(text))
}

const STRUCT = /^0x[0-9a-f]+::\w+::\w+(?:<.*>)?$/

function areTexts(
  tokens: readonly SignatureToken[],
  texts: readonly string[],
  isOne: (token: SignatureToken, text: string) => boolean,
): boolean {
  return tokens.length === texts.length && tokens.every((token, at) => isOne(token, texts[at]!))
}

/** Whether a token has this text. A comparison ends at the first difference: a hostile token may have a long text. */
function isText(token: SignatureToken, text: string): boolean {
  switch (token.kind) {
    case 'vector':
      return isAround('vector<', text) && isText(token.element, text.slice('vector<'.length, -1))
    case 'reference': {
      const sign = token.mutable ? '&mut ' : '&'
      return text.startsWith(sign) && isText(token.to, text.slice(sign.length))
    }
    case 'typeParameter':
      return text === `T${token.index}`
    case 'struct': {
      const { module, typeArguments } = token
      const name = `${addressToShortHex(module.address)}::${module.name}::${token.name}`
      if (typeArguments.length === 0) return text === name
      return isAround(`${name}<`, text) && areTexts(typeArguments, splitList(text.slice(name.length + 1, -1)), isText)
    }
    case 'function':
      return false
    default:
      return text === token.kind
  }
}

/** Whether a text begins with this beginning and ends with its `>`. */
function isAround(beginning: string, text: string): boolean {
  return text.startsWith(beginning) && text.endsWith('>')
}
