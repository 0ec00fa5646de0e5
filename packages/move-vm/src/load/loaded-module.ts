import type { CodedFunction, ModuleCode, SignatureToken, StructDefinition } from '@ledger-state/move-module'
import { type CompiledFunction, compileFunction } from './compile-function.js'
import { type ModuleName, OpenTypes } from './open-type.js'

/** A function of a loaded module. */
export interface LoadedFunction {
  readonly module: LoadedModule
  /** Index among the function definitions of the module. */
  readonly index: number
  readonly definition: CodedFunction
}

/** A struct or enum of a loaded module. */
export interface LoadedStruct {
  readonly module: LoadedModule
  readonly definition: StructDefinition
}

/**
 * A decoded module with what follows from its bytes alone. Nothing in it depends on other modules or on a version, so
 * all runs share it.
 */
export class LoadedModule {
  readonly code: ModuleCode
  readonly name: ModuleName
  /** Size of the binary. */
  readonly size: number
  readonly types = new OpenTypes()
  readonly functions: ReadonlyMap<string, LoadedFunction>
  readonly structs: ReadonlyMap<string, LoadedStruct>
  readonly #compiled = new Map<LoadedFunction, CompiledFunction>()
  readonly #signatureTexts = new Map<Signature, string>()

  constructor(code: ModuleCode, size: number) {
    this.code = code
    this.size = size
    this.name = this.types.nameOf(code)
    this.functions = new Map(
      code.functions.map((definition, index) => [definition.name, { module: this, index, definition }]),
    )
    this.structs = new Map(code.structs.map((definition) => [definition.name, { module: this, definition }]))
  }

  /**
   * The code of a function, checked and compiled at its first use.
   * @throws VmFault
   */
  compiled(loaded: LoadedFunction): CompiledFunction {
    const known = this.#compiled.get(loaded)
    if (known) return known
    const compiled = compileFunction(this, loaded.definition)
    this.#compiled.set(loaded, compiled)
    return compiled
  }

  /** A text that is the same for two signatures, of any modules, if a call from one to the other is well typed. */
  signatureText(signature: Signature): string {
    const known = this.#signatureTexts.get(signature)
    if (known !== undefined) return known
    const { types } = this
    const tokens = (list: readonly SignatureToken[]) => list.map((token) => tokenText(token, types)).join()
    const text = `${signature.typeParameters.length}|${tokens(signature.parameters)}|${tokens(signature.results)}`
    this.#signatureTexts.set(signature, text)
    return text
  }
}

/** A text that is the same for equal types, of any modules. Type parameters are `#0`, `#1`, …. */
export function exactTokenText(token: SignatureToken, types: OpenTypes): string {
  const list = (tokens: readonly SignatureToken[]) => tokens.map((one) => exactTokenText(one, types)).join()
  switch (token.kind) {
    case 'vector':
      return `[${exactTokenText(token.element, types)}]`
    case 'struct':
      return `${types.nameOf(token.module).key}::${token.name}<${list(token.typeArguments)}>`
    case 'typeParameter':
      return `#${token.index}`
    case 'reference':
      return `${token.mutable ? '&mut ' : '&'}${exactTokenText(token.to, types)}`
    case 'function':
      return `(${list(token.parameters)}|${list(token.results)}|${token.abilities})`
    default:
      return token.kind
  }
}

interface Signature {
  readonly parameters: readonly SignatureToken[]
  readonly results: readonly SignatureToken[]
  readonly typeParameters: readonly number[]
}

/** Text of a type without the abilities of functions and without mutability, as `OpenType.shape` ignores both. */
function tokenText(token: SignatureToken, types: OpenTypes): string {
  const list = (tokens: readonly SignatureToken[]) => tokens.map((one) => tokenText(one, types)).join()
  switch (token.kind) {
    case 'vector':
      return `[${tokenText(token.element, types)}]`
    case 'struct': {
      const { key } = types.nameOf(token.module)
      return token.typeArguments.length === 0
        ? `${key}::${token.name}`
        : `${key}::${token.name}<${list(token.typeArguments)}>`
    }
    case 'typeParameter':
      return `#${token.index}`
    case 'reference':
      return `&${tokenText(token.to, types)}`
    case 'function':
      return `(${list(token.parameters)}|${list(token.results)})`
    default:
      return token.kind
  }
}
