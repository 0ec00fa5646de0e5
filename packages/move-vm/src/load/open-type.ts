import { bytesToHexDigits } from '@ledger-state/core/bytes'
import type { ModuleId, SignatureToken } from '@ledger-state/move-module'
import type { PrimitiveType } from '@ledger-state/type-tag'
import { malformedCode } from '../faults/vm-fault.js'

/** The name of a module. Equal names have equal `key`. */
export interface ModuleName {
  /** 64 hex digits. */
  readonly address: string
  readonly name: string
  /** The address, `::`, and the name. */
  readonly key: string
}

interface OpenNode {
  /** Unique in the module. */
  readonly id: number
  /** Number that is equal for types that differ only in the mutability of references and the abilities of functions. */
  readonly shape: number
  /** Whether it has type parameters. */
  readonly isOpen: boolean
}

/** A type as the code of one module names it: type parameters of a function or struct are not yet replaced. */
export type OpenType =
  | (OpenNode & { readonly kind: PrimitiveType })
  | (OpenNode & { readonly kind: 'vector'; readonly element: OpenType })
  | (OpenNode & {
      readonly kind: 'struct'
      readonly module: ModuleName
      readonly name: string
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

/** Most types in a substituted type. A type of a verified module has at most 128 types in it. */
const MAX_NODES = 4_096

/** The types of one module. Equal types are one object, so that `===` compares them. */
export class OpenTypes {
  readonly #types = new Map<string, OpenType>()
  readonly #names = new Map<ModuleId, ModuleName>()
  readonly #tokens = new Map<SignatureToken, OpenType>()
  /** Numbers of shapes, by the key of the type that stands for the shape, if that type came after them or never. */
  readonly #shapes = new Map<string, number>()
  #nextId = 0

  nameOf(module: ModuleId): ModuleName {
    const known = this.#names.get(module)
    if (known) return known
    const address = bytesToHexDigits(module.address)
    const name: ModuleName = { address, name: module.name, key: `${address}::${module.name}` }
    this.#names.set(module, name)
    return name
  }

  of(token: SignatureToken): OpenType {
    const known = this.#tokens.get(token)
    if (known) return known
    const type = this.#convert(token)
    this.#tokens.set(token, type)
    return type
  }

  ofAll(tokens: readonly SignatureToken[]): OpenType[] {
    return tokens.map((token) => this.of(token))
  }

  #convert(token: SignatureToken): OpenType {
    switch (token.kind) {
      case 'vector':
        return this.vector(this.of(token.element))
      case 'struct':
        return this.struct(this.nameOf(token.module), token.name, this.ofAll(token.typeArguments))
      case 'typeParameter':
        return this.typeParameter(token.index)
      case 'reference':
        return this.reference(this.of(token.to), token.mutable)
      case 'function':
        return this.function(this.ofAll(token.parameters), this.ofAll(token.results), token.abilities)
      default:
        return this.plain(token.kind)
    }
  }

  plain(kind: PrimitiveType): OpenType {
    return this.#intern(kind, (node) => ({ ...node, kind, isOpen: false }))
  }

  vector(element: OpenType): OpenType {
    return this.#intern(
      `v${element.id}`,
      (node) => ({ ...node, kind: 'vector', element, isOpen: element.isOpen }),
      `v${element.shape}`,
    )
  }

  struct(module: ModuleName, name: string, typeArguments: readonly OpenType[]): OpenType {
    const own = `s${module.key}::${name}`
    return this.#intern(
      `${own}<${ids(typeArguments)}`,
      (node) => ({ ...node, kind: 'struct', module, name, typeArguments, isOpen: typeArguments.some(isOpen) }),
      `${own}<${shapes(typeArguments)}`,
    )
  }

  typeParameter(index: number): OpenType {
    return this.#intern(`p${index}`, (node) => ({ ...node, kind: 'typeParameter', index, isOpen: true }))
  }

  reference(to: OpenType, mutable: boolean): OpenType {
    return this.#intern(
      `${mutable ? 'm' : 'r'}${to.id}`,
      (node) => ({ ...node, kind: 'reference', mutable, to, isOpen: to.isOpen }),
      `r${to.shape}`,
    )
  }

  function(parameters: readonly OpenType[], results: readonly OpenType[], abilities: number): OpenType {
    return this.#intern(
      `f${abilities}|${ids(parameters)}|${ids(results)}`,
      (node) => ({
        ...node,
        kind: 'function',
        parameters,
        results,
        abilities,
        isOpen: parameters.some(isOpen) || results.some(isOpen),
      }),
      `f0|${shapes(parameters)}|${shapes(results)}`,
    )
  }

  /**
   * Returns the one object for a type. `shapeKey` is the key of the type that stands for all types of its shape, if
   * that may be another type.
   */
  #intern(key: string, make: (node: { id: number; shape: number }) => OpenType, shapeKey = key): OpenType {
    const known = this.#types.get(key)
    if (known) return known
    const id = this.#nextId++
    const shape = shapeKey === key ? (this.#shapes.get(key) ?? id) : this.#shapeOf(shapeKey)
    const type = make({ id, shape })
    this.#types.set(key, type)
    return type
  }

  /** The number of a shape: the id of the type with this key if there is one, else a new number. */
  #shapeOf(key: string): number {
    const known = this.#types.get(key)?.shape ?? this.#shapes.get(key)
    if (known !== undefined) return known
    const shape = this.#nextId++
    this.#shapes.set(key, shape)
    return shape
  }

  /** The type with its type parameters replaced. */
  substitute(type: OpenType, typeArguments: readonly OpenType[]): OpenType {
    if (!type.isOpen) return type
    return this.#substitute(type, typeArguments, { left: MAX_NODES })
  }

  substituteAll(types: readonly OpenType[], typeArguments: readonly OpenType[]): readonly OpenType[] {
    return types.some(isOpen) ? types.map((type) => this.substitute(type, typeArguments)) : types
  }

  #substitute(type: OpenType, typeArguments: readonly OpenType[], budget: { left: number }): OpenType {
    if (!type.isOpen) return type
    if (--budget.left < 0) throw malformedCode('a type of too many parts')
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
        return this.struct(type.module, type.name, all(type.typeArguments))
      case 'reference':
        return this.reference(this.#substitute(type.to, typeArguments, budget), type.mutable)
      case 'function':
        return this.function(all(type.parameters), all(type.results), type.abilities)
      default:
        return type
    }
  }
}

function isOpen(type: OpenType): boolean {
  return type.isOpen
}

function ids(types: readonly OpenType[]): string {
  let text = ''
  for (const { id } of types) text += `${id},`
  return text
}

function shapes(types: readonly OpenType[]): string {
  let text = ''
  for (const { shape } of types) text += `${shape},`
  return text
}
