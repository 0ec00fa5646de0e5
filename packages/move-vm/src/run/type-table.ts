import { hexToBytes } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import {
  type FunctionSlot,
  type PrimitiveType,
  primitiveTag,
  type StructTag,
  type TypeTag,
  typeTagToText,
} from '@ledger-state/type-tag'
import { STATUS } from '../faults/status.js'
import { VmFault } from '../faults/vm-fault.js'
import type { OpenType } from '../load/open-type.js'
import type { StructType, Type } from '../types/type.js'

const MAX_TYPE_SIZE = 128
const MAX_TYPE_DEPTH = 20

/** The types of a world. Equal types are one object. */
export class TypeTable {
  readonly #types = new Map<string, Type>()
  readonly #tags = new Map<Type, TypeTag>()
  #nextId = 0

  get count(): number {
    return this.#types.size
  }

  plain(kind: PrimitiveType): Type {
    return this.#intern(kind, (id) => ({ id, kind, size: 1, depth: 1 }))
  }

  vector(element: Type): Type {
    return this.#intern(`v${element.id}`, (id) => ({
      id,
      kind: 'vector',
      element,
      size: 1 + element.size,
      depth: 1 + element.depth,
    }))
  }

  struct(address: string, module: string, name: string, typeArguments: readonly Type[]): StructType {
    return this.#intern(`s${address}::${module}::${name}<${ids(typeArguments)}`, (id) => ({
      id,
      kind: 'struct',
      address,
      module,
      name,
      typeArguments,
      size: 1 + totalSize(typeArguments),
      depth: 1 + greatestDepth(typeArguments),
    })) as StructType
  }

  reference(to: Type, mutable: boolean): Type {
    return this.#intern(`${mutable ? 'm' : 'r'}${to.id}`, (id) => ({
      id,
      kind: 'reference',
      mutable,
      to,
      size: 1 + to.size,
      depth: 1 + to.depth,
    }))
  }

  function(parameters: readonly Type[], results: readonly Type[], abilities: number): Type {
    return this.#intern(`f${abilities}|${ids(parameters)}|${ids(results)}`, (id) => ({
      id,
      kind: 'function',
      parameters,
      results,
      abilities,
      size: 1 + totalSize(parameters) + totalSize(results),
      depth: 1 + Math.max(greatestDepth(parameters), greatestDepth(results)),
    }))
  }

  #intern(key: string, make: (id: number) => Type): Type {
    const known = this.#types.get(key)
    if (known) return known
    const type = make(this.#nextId)
    if (type.size > MAX_TYPE_SIZE) throw new VmFault(STATUS.TOO_MANY_TYPE_NODES)
    if (type.depth > MAX_TYPE_DEPTH) throw new VmFault(STATUS.VM_MAX_TYPE_DEPTH_REACHED)
    this.#nextId++
    this.#types.set(key, type)
    return type
  }

  /** A type of code with its type parameters replaced. */
  instantiate(type: OpenType, typeArguments: readonly Type[]): Type {
    const all = (types: readonly OpenType[]) => types.map((one) => this.instantiate(one, typeArguments))
    switch (type.kind) {
      case 'typeParameter': {
        const argument = typeArguments[type.index]
        if (!argument) throw new VmFault(STATUS.VERIFICATION_ERROR, `type parameter ${type.index} is not bound`)
        return argument
      }
      case 'vector':
        return this.vector(this.instantiate(type.element, typeArguments))
      case 'struct':
        return this.struct(type.module.address, type.module.name, type.name, all(type.typeArguments))
      case 'reference':
        return this.reference(this.instantiate(type.to, typeArguments), type.mutable)
      case 'function':
        return this.function(all(type.parameters), all(type.results), type.abilities)
      default:
        return this.plain(type.kind)
    }
  }

  /** The type that a tag names. Nothing is looked up: structs need not exist. */
  ofTag(tag: TypeTag): Type {
    const all = (slots: readonly FunctionSlot[]) => slots.map((slot) => this.#ofSlot(slot))
    switch (tag.kind) {
      case 'vector':
        return this.vector(this.ofTag(tag.element))
      case 'struct': {
        const { address, module, name, typeArguments } = tag
        return this.struct(
          bytesToHexDigits(address),
          module,
          name,
          typeArguments.map((one) => this.ofTag(one)),
        )
      }
      case 'function':
        return this.function(all(tag.parameters), all(tag.results), tag.abilities)
      default:
        return this.plain(tag.kind)
    }
  }

  #ofSlot({ passing, type }: FunctionSlot): Type {
    const to = this.ofTag(type)
    return passing === 'value' ? to : this.reference(to, passing === 'mutableReference')
  }

  /** The tag of a type; for a reference, the tag of the type that it is to. */
  tagOf(type: Type): TypeTag {
    const known = this.#tags.get(type)
    if (known) return known
    const tag = this.#makeTag(type)
    this.#tags.set(type, tag)
    return tag
  }

  #makeTag(type: Type): TypeTag {
    switch (type.kind) {
      case 'vector':
        return { kind: 'vector', element: this.tagOf(type.element) }
      case 'struct':
        return this.#structTag(type)
      case 'reference':
        return this.tagOf(type.to)
      case 'function':
        return {
          kind: 'function',
          parameters: type.parameters.map((one) => this.#slotOf(one)),
          results: type.results.map((one) => this.#slotOf(one)),
          abilities: type.abilities,
        }
      default:
        return primitiveTag(type.kind)!
    }
  }

  #structTag({ address, module, name, typeArguments }: StructType): StructTag {
    return {
      kind: 'struct',
      address: hexToBytes(address),
      module,
      name,
      typeArguments: typeArguments.map((one) => this.tagOf(one)),
    }
  }

  #slotOf(type: Type): FunctionSlot {
    const passing = type.kind !== 'reference' ? 'value' : type.mutable ? 'mutableReference' : 'reference'
    return { passing, type: this.tagOf(type) }
  }

  /** Canonical text, with short addresses. */
  textOf(type: Type): string {
    return typeTagToText(this.tagOf(type))
  }
}

function ids(types: readonly Type[]): string {
  let text = ''
  for (const { id } of types) text += `${id},`
  return text
}

function totalSize(types: readonly Type[]): number {
  let size = 0
  for (const type of types) size += type.size
  return size
}

function greatestDepth(types: readonly Type[]): number {
  let depth = 0
  for (const type of types) depth = Math.max(depth, type.depth)
  return depth
}
