import { addressToShortHex, type Steps } from '@ledger-state/core'
import { typeTooLarge } from './errors.js'
import {
  ABILITY,
  type FunctionDefinition,
  type ModuleId,
  type ModuleInterface,
  type ScriptInterface,
  type SignatureToken,
  type StructDefinition,
  type Visibility,
} from './module-definition.js'
import { readModuleInterfaceInSteps } from './read-module.js'

/**
 * ABI of a module as full nodes print it: `JSON.stringify` makes the same text, with members in the same order. It does
 * not show variants of enums and phantom type parameters.
 */
export interface ModuleAbi {
  readonly address: string
  readonly name: string
  /** Friends of the module, such as `0x1::genesis`. */
  readonly friends: readonly string[]
  /** Public, friend and entry functions. */
  readonly exposed_functions: readonly FunctionAbi[]
  readonly structs: readonly StructAbi[]
}

/** A function in the ABI of its module. */
export interface FunctionAbi {
  readonly name: string
  readonly visibility: Visibility
  readonly is_entry: boolean
  readonly is_view: boolean
  readonly generic_type_params: readonly TypeParameterAbi[]
  /** Types of the parameters, such as `&mut vector<T0>` and `|u64,&bool|u8`. */
  readonly params: readonly string[]
  readonly return: readonly string[]
}

/** A struct, enum or native type in the ABI of its module. */
export interface StructAbi {
  readonly name: string
  readonly is_native: boolean
  readonly is_event: boolean
  readonly is_enum: boolean
  readonly abilities: readonly string[]
  readonly generic_type_params: readonly TypeParameterAbi[]
  /** Fields of the struct; empty for enums and native types. */
  readonly fields: readonly { readonly name: string; readonly type: string }[]
}

/** Abilities that an argument of a type parameter must have: `copy`, `drop`, `store`, `key`. */
export interface TypeParameterAbi {
  readonly constraints: readonly string[]
}

/**
 * Most characters of all types in an ABI. A hostile module may name a type of 64 KB in a byte or two, again and again;
 * the largest ABI of the Aptos framework has 7,000.
 */
const MAX_ABI_TYPE_LENGTH = 1_000_000
/** Bytes of a module that are read, and characters that are printed, in one step. */
const BYTES_AT_ONCE = 16 << 10

/**
 * Makes the ABI of a module.
 * @throws `type_too_large` if the types of the module are too long to print
 * @example
 * ```ts
 * import { parseAddress } from '@ledger-state/core'
 * import { moduleAbi, readModuleInterface, writeModule } from '@ledger-state/move-module'
 *
 * const binary = writeModule({ version: 7, address: parseAddress('0xcafe'), name: 'empty', structs: [] })
 * console.log(moduleAbi(readModuleInterface(binary)).address) // 0xcafe
 * ```
 */
export function moduleAbi(module: ModuleInterface): ModuleAbi {
  const { head, functions, structs } = abiParts(module)
  return { ...head, exposed_functions: [...functions], structs: [...structs] }
}

/**
 * The ABI of a compiled module as JSON, in steps: a module with hundreds of structs prints as some MB.
 * @throws as `readModuleInterface` and `moduleAbi`
 */
export function* moduleAbiToJson(binary: Uint8Array): Steps<string> {
  const reading = readModuleInterfaceInSteps(binary)
  let bytes = 0
  let step = reading.next()
  for (; !step.done; step = reading.next()) {
    bytes += step.value
    if (bytes < BYTES_AT_ONCE) continue
    yield
    bytes = 0
  }
  const { head, functions, structs } = abiParts(step.value)
  const shown = yield* listToJson(functions)
  return `${JSON.stringify(head).slice(0, -1)},"exposed_functions":${shown},"structs":${yield* listToJson(structs)}}`
}

function* listToJson(items: Iterable<object>): Steps<string> {
  const texts: string[] = []
  let length = 0
  for (const item of items) {
    if (length >= BYTES_AT_ONCE) {
      yield
      length = 0
    }
    const text = JSON.stringify(item)
    length += text.length
    texts.push(text)
  }
  return `[${texts.join()}]`
}

/** The parts of an ABI. Functions and structs are made when they are iterated. */
function abiParts(module: ModuleInterface) {
  const printer = new TypePrinter(MAX_ABI_TYPE_LENGTH)
  const exposed = module.functions.filter(({ visibility, isEntry }) => visibility !== 'private' || isEntry)
  return {
    head: {
      address: addressToShortHex(module.address),
      name: module.name,
      friends: module.friends.map(moduleIdToText),
    },
    functions: mapped(exposed, (one) => functionAbi(one, module.views.has(one.name), printer)),
    structs: mapped(module.structs, (one) => structAbi(one, module, printer)),
  }
}

function* mapped<T, U>(items: Iterable<T>, map: (item: T) => U): Generator<U> {
  for (const item of items) yield map(item)
}

/**
 * Makes the ABI of a script, as full nodes print it.
 * @throws `type_too_large` if the types of the parameters are too long to print
 */
export function scriptAbi({ typeParameters, parameters }: ScriptInterface): FunctionAbi {
  const definition: FunctionDefinition = {
    name: 'main',
    visibility: 'public',
    isEntry: true,
    isNative: false,
    typeParameters,
    parameters,
    results: [],
  }
  return functionAbi(definition, false, new TypePrinter(MAX_ABI_TYPE_LENGTH))
}

function functionAbi(definition: FunctionDefinition, isView: boolean, printer: TypePrinter): FunctionAbi {
  return {
    name: definition.name,
    visibility: definition.visibility,
    is_entry: definition.isEntry,
    is_view: isView,
    generic_type_params: definition.typeParameters.map((abilities) => ({ constraints: abilityNames(abilities) })),
    params: definition.parameters.map((token) => printer.print(token)),
    return: definition.results.map((token) => printer.print(token)),
  }
}

function structAbi(definition: StructDefinition, module: ModuleInterface, printer: TypePrinter): StructAbi {
  const isShownAsStruct = definition.kind === 'enum' && isOptionModule(module) && definition.variants.length === 2
  return {
    name: definition.name,
    is_native: definition.kind === 'native',
    is_event: module.events.has(definition.name),
    is_enum: definition.kind === 'enum' && !isShownAsStruct,
    abilities: abilityNames(definition.abilities),
    generic_type_params: definition.typeParameters.map(({ constraints }) => ({
      constraints: abilityNames(constraints),
    })),
    fields: isShownAsStruct ? OPTION_FIELDS : fieldsAbi(definition, printer),
  }
}

function fieldsAbi(definition: StructDefinition, printer: TypePrinter): StructAbi['fields'] {
  if (definition.kind !== 'struct') return []
  return definition.fields.map(({ name, type }) => ({ name, type: printer.print(type) }))
}

/** Whether a module is the module of `Option`, which became an enum. Nodes still show it as a struct. */
function isOptionModule({ address, name }: ModuleId): boolean {
  return name === 'option' && addressToShortHex(address) === '0x1'
}

const OPTION_FIELDS: StructAbi['fields'] = [{ name: 'vec', type: 'vector<T0>' }]

function abilityNames(abilities: number): string[] {
  return Object.entries(ABILITY).flatMap(([name, bit]) => ((abilities & bit) !== 0 ? [name] : []))
}

function moduleIdToText({ address, name }: ModuleId): string {
  return `${addressToShortHex(address)}::${name}`
}

/** Prints types as in an ABI, up to a number of characters in all. */
class TypePrinter {
  #left: number

  constructor(maxLength: number) {
    this.#left = maxLength
  }

  /** Prints a type. In an ABI, function types have no blanks, no brackets and no abilities. */
  print(token: SignatureToken): string {
    switch (token.kind) {
      case 'vector':
        return this.#spend(`vector<${this.print(token.element)}>`, 8)
      case 'reference':
        return this.#spend(`${token.mutable ? '&mut ' : '&'}${this.print(token.to)}`, 5)
      case 'typeParameter':
        return this.#spend(`T${token.index}`)
      case 'struct': {
        const name = this.#spend(`${moduleIdToText(token.module)}::${token.name}`)
        return token.typeArguments.length === 0 ? name : `${name}<${this.#printAll(token.typeArguments, ', ')}>`
      }
      case 'function':
        return this.#spend(`|${this.#printAll(token.parameters, ',')}|${this.#printAll(token.results, ',')}`, 2)
      default:
        return this.#spend(token.kind)
    }
  }

  #printAll(tokens: readonly SignatureToken[], separator: string): string {
    return tokens.map((token) => this.print(token)).join(separator)
  }

  /** Counts the characters of a text. `length` leaves out the parts that were counted before. */
  #spend(text: string, length = text.length): string {
    this.#left -= length
    if (this.#left < 0) throw typeTooLarge.abiTooLong(MAX_ABI_TYPE_LENGTH)
    return text
  }
}
