import type { ModuleInterface, SignatureToken, StructDefinition } from '@ledger-state/move-module'
import { isSameType, type StructName } from './tag-names.js'

/** The types and functions of a module, by name, that have a type in their fields, parameters or results. */
export function declarationsWith(module: ModuleInterface, type: StructName): readonly string[] {
  const finder = new TypeFinder(type)
  const structs = module.structs.filter((one) => finder.isInAny(fieldTypes(one)))
  const functions = module.functions.filter(({ parameters, results }) => finder.isInAny([...parameters, ...results]))
  return [...structs, ...functions].map(({ name }) => name)
}

function fieldTypes(definition: StructDefinition): readonly SignatureToken[] {
  if (definition.kind === 'native') return []
  const fields =
    definition.kind === 'struct' ? definition.fields : definition.variants.flatMap((variant) => variant.fields)
  return fields.map(({ type }) => type)
}

/** Looks at each token once, even if a hostile module names one with many members again and again. */
class TypeFinder {
  readonly #type: StructName
  readonly #known = new Map<SignatureToken, boolean>()

  constructor(type: StructName) {
    this.#type = type
  }

  isInAny(tokens: readonly SignatureToken[]): boolean {
    return tokens.some((token) => this.#isIn(token))
  }

  #isIn(token: SignatureToken): boolean {
    const known = this.#known.get(token)
    if (known !== undefined) return known
    const found = this.#looksIn(token)
    this.#known.set(token, found)
    return found
  }

  #looksIn(token: SignatureToken): boolean {
    switch (token.kind) {
      case 'vector':
        return this.#isIn(token.element)
      case 'reference':
        return this.#isIn(token.to)
      case 'struct': {
        const { module, name, typeArguments } = token
        const named = { address: module.address, module: module.name, name }
        return isSameType(named, this.#type) || this.isInAny(typeArguments)
      }
      case 'function':
        return this.isInAny(token.parameters) || this.isInAny(token.results)
      default:
        return false
    }
  }
}
