import { bytesToHexDigits } from '@ledger-state/core/bytes'
import type { ModuleId, SignatureToken } from '@ledger-state/move-module'
import type { PrimitiveType } from '@ledger-state/type-tag'
import { type CompileMeter, UNMETERED } from '../budget/compile-meter.js'
import { malformedCode, type VmFault } from '../faults/vm-fault.js'
import { PartedMap } from '../parted-map.js'
import { TYPE_WORK } from '../types/type.js'

/** The name of a module. Equal names have equal `key`. */
export interface ModuleName {
  /** 64 hex digits. */
  readonly address: string
  readonly name: string
  /** The address, `::`, and the name. */
  readonly key: string
}

/** The name of a struct. Within a module, equal names are one object. */
export interface StructName {
  /** Unique in the module. */
  readonly id: number
  readonly module: ModuleName
  readonly name: string
}

interface OpenNode {
  /** Unique in the module. */
  readonly id: number
  /** Whether it has type parameters. */
  readonly isOpen: boolean
  /** Number of types in it, itself included. */
  readonly size: number
}

/** A type as the code of one module names it: type parameters of a function or struct are not yet replaced. */
export type OpenType =
  | (OpenNode & { readonly kind: PrimitiveType })
  | (OpenNode & { readonly kind: 'vector'; readonly element: OpenType })
  | (OpenNode & {
      readonly kind: 'struct'
      readonly struct: StructName
      readonly typeArguments: readonly OpenType[]
    })
  | (OpenNode & { readonly kind: 'typeParameter'; readonly index: number })
  | (OpenNode & { readonly kind: 'reference'; readonly mutable: boolean; readonly to: OpenType })
  | (OpenNode & {
      readonly kind: 'function'
      readonly parameters: readonly OpenType[]
      readonly results: readonly OpenType[]
      readonly abilities: number
    })

/** Most types in a type. A type of a verified module has at most 256. Making this many takes a millisecond or two. */
const MAX_NODES = 2_048

/** Heap bytes of a type with its keys and entries, and for each part that it names; measured on Node 24. */
export const OPEN_TYPE_BYTES = 320
export const PART_BYTES = 32
/** Heap bytes of the name of a struct, and of the name of a module. */
const NAME_BYTES = 256

/** The types of one module. Equal types are one object, so that `===` compares them. */
export class OpenTypes {
  readonly #types = new PartedMap<string, OpenType>()
  readonly #moduleNames = new Map<string, ModuleName>()
  readonly #names = new Map<ModuleId, ModuleName>()
  readonly #structNames = new Map<ModuleName, Map<string, StructName>>()
  readonly #tokens = new PartedMap<SignatureToken, OpenType>()
  #nextId = 0
  #nextStruct = 0
  #heapBytes = 0

  /** Heap bytes of the types. */
  get heapBytes(): number {
    return this.#heapBytes
  }

  nameOf(module: ModuleId): ModuleName {
    const known = this.#names.get(module)
    if (known) return known
    const address = bytesToHexDigits(module.address)
    const key = `${address}::${module.name}`
    let name = this.#moduleNames.get(key)
    if (!name) {
      name = { address, name: module.name, key }
      this.#moduleNames.set(key, name)
      this.#heapBytes += NAME_BYTES + key.length
    }
    this.#names.set(module, name)
    return name
  }

  #structName(module: ModuleName, name: string): StructName {
    let names = this.#structNames.get(module)
    if (!names) {
      names = new Map()
      this.#structNames.set(module, names)
    }
    let struct = names.get(name)
    if (!struct) {
      struct = { id: this.#nextStruct++, module, name }
      names.set(name, struct)
      this.#heapBytes += NAME_BYTES
    }
    return struct
  }

  /** The type that a token names. @throws VmFault if it has too many parts */
  of(token: SignatureToken): OpenType {
    const known = this.#tokens.get(token)
    if (known) return known
    if (this.sizeOf(token) > MAX_NODES) throw tooManyParts()
    return this.#of(token)
  }

  #of(token: SignatureToken): OpenType {
    const known = this.#tokens.get(token)
    if (known) return known
    const type = this.#convert(token)
    this.#tokens.set(token, type)
    return type
  }

  /** Whether a token has a type already. */
  has(token: SignatureToken): boolean {
    return this.#tokens.get(token) !== undefined
  }

  ofAll(tokens: readonly SignatureToken[]): OpenType[] {
    return tokens.map((token) => this.of(token))
  }

  /** Number of types in a type. */
  sizeOf(token: SignatureToken): number {
    const known = this.#tokens.get(token)
    if (known) return known.size
    switch (token.kind) {
      case 'vector':
        return 1 + this.sizeOf(token.element)
      case 'struct':
        return 1 + this.sizeOfAll(token.typeArguments)
      case 'reference':
        return 1 + this.sizeOf(token.to)
      case 'function':
        return 1 + this.sizeOfAll(token.parameters) + this.sizeOfAll(token.results)
      default:
        return 1
    }
  }

  sizeOfAll(tokens: readonly SignatureToken[]): number {
    let size = 0
    for (const token of tokens) size += this.sizeOf(token)
    return size
  }

  #ofAll(tokens: readonly SignatureToken[]): OpenType[] {
    return tokens.map((token) => this.#of(token))
  }

  #convert(token: SignatureToken): OpenType {
    switch (token.kind) {
      case 'vector':
        return this.vector(this.#of(token.element))
      case 'struct':
        return this.struct(this.nameOf(token.module), token.name, this.#ofAll(token.typeArguments))
      case 'typeParameter':
        return this.typeParameter(token.index)
      case 'reference':
        return this.reference(this.#of(token.to), token.mutable)
      case 'function':
        return this.function(this.#ofAll(token.parameters), this.#ofAll(token.results), token.abilities)
      default:
        return this.plain(token.kind)
    }
  }

  plain(kind: PrimitiveType): OpenType {
    return this.#intern(kind, (node) => ({ ...node, kind, isOpen: false, size: 1 }))
  }

  vector(element: OpenType): OpenType {
    return this.#intern(`v${element.id}`, (node) => ({
      ...node,
      kind: 'vector',
      element,
      isOpen: element.isOpen,
      size: 1 + element.size,
    }))
  }

  struct(module: ModuleName, name: string, typeArguments: readonly OpenType[]): OpenType {
    return this.#structOf(this.#structName(module, name), typeArguments)
  }

  #structOf(struct: StructName, typeArguments: readonly OpenType[]): OpenType {
    return this.#intern(`s${struct.id}<${ids(typeArguments)}`, (node) => ({
      ...node,
      kind: 'struct',
      struct,
      typeArguments,
      isOpen: typeArguments.some(isOpen),
      size: 1 + totalSize(typeArguments),
    }))
  }

  typeParameter(index: number): OpenType {
    return this.#intern(`p${index}`, (node) => ({ ...node, kind: 'typeParameter', index, isOpen: true, size: 1 }))
  }

  reference(to: OpenType, mutable: boolean): OpenType {
    return this.#intern(`${mutable ? 'm' : 'r'}${to.id}`, (node) => ({
      ...node,
      kind: 'reference',
      mutable,
      to,
      isOpen: to.isOpen,
      size: 1 + to.size,
    }))
  }

  function(parameters: readonly OpenType[], results: readonly OpenType[], abilities: number): OpenType {
    return this.#intern(`f${abilities}|${ids(parameters)}|${ids(results)}`, (node) => ({
      ...node,
      kind: 'function',
      parameters,
      results,
      abilities,
      isOpen: parameters.some(isOpen) || results.some(isOpen),
      size: 1 + totalSize(parameters) + totalSize(results),
    }))
  }

  /** Returns the one object for a type. */
  #intern(key: string, make: (node: { id: number }) => OpenType): OpenType {
    const known = this.#types.get(key)
    if (known) return known
    const type = make({ id: this.#nextId++ })
    this.#types.set(key, type)
    this.#heapBytes += OPEN_TYPE_BYTES + PART_BYTES * partCount(type)
    return type
  }

  /** The type with its type parameters replaced. Each type that this visits is charged before it is made. */
  substitute(type: OpenType, typeArguments: readonly OpenType[], meter: CompileMeter = UNMETERED): OpenType {
    if (!type.isOpen) return type
    return this.#substitute(type, typeArguments, { left: MAX_NODES, meter })
  }

  #substitute(
    type: OpenType,
    typeArguments: readonly OpenType[],
    budget: { left: number; readonly meter: CompileMeter },
  ): OpenType {
    if (!type.isOpen) return type
    if (--budget.left < 0) throw tooManyParts()
    const parts = partCount(type)
    budget.meter.charge(TYPE_WORK + parts, OPEN_TYPE_BYTES + PART_BYTES * parts)
    const all = (types: readonly OpenType[]) => types.map((one) => this.#substitute(one, typeArguments, budget))
    switch (type.kind) {
      case 'typeParameter': {
        const argument = typeArguments[type.index]
        if (!argument) throw malformedCode(`type parameter ${type.index} of ${typeArguments.length}`)
        return argument
      }
      case 'vector':
        return this.vector(this.#substitute(type.element, typeArguments, budget))
      case 'struct':
        return this.#structOf(type.struct, all(type.typeArguments))
      case 'reference':
        return this.reference(this.#substitute(type.to, typeArguments, budget), type.mutable)
      case 'function':
        return this.function(all(type.parameters), all(type.results), type.abilities)
      default:
        return type
    }
  }
}

function tooManyParts(): VmFault {
  return malformedCode('a type of too many parts')
}

/** Number of the types that a type names itself. */
function partCount(type: OpenType): number {
  if (type.kind === 'struct') return type.typeArguments.length
  return type.kind === 'function' ? type.parameters.length + type.results.length : 1
}

function isOpen(type: OpenType): boolean {
  return type.isOpen
}

function totalSize(types: readonly OpenType[]): number {
  let size = 0
  for (const type of types) size += type.size
  return size
}

function ids(types: readonly OpenType[]): string {
  let text = ''
  for (const { id } of types) text += `${id},`
  return text
}
