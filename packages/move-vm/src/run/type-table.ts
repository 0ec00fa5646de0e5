import { hexToBytes } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import {
  type FunctionSlot,
  type PrimitiveType,
  primitiveTag,
  type StructTag,
  type TypeTag,
} from '@ledger-state/type-tag'
import { STATUS } from '../faults/status.js'
import { VmFault } from '../faults/vm-fault.js'
import type { OpenType, StructName } from '../load/open-type.js'
import { PartedMap } from '../parted-map.js'
import type { StructType, Type } from '../types/type.js'
import { areSameBytes } from './same-bytes.js'

const MAX_TYPE_SIZE = 128
const MAX_TYPE_DEPTH = 20
/** Most parts of tags that are kept. */
const MOST_TAG_NODES = 4_096

/** The name of a struct. Within a world, equal names are one object. */
export interface WorldStructName {
  readonly id: number
  /** 64 hex digits. */
  readonly address: string
  readonly module: string
  readonly name: string
  /** The 32 bytes of the address. */
  readonly addressBytes: Uint8Array
  /** The type without type arguments, once it is made. */
  plain: StructType | undefined
}

/** The types of a world. Equal types are one object. Their keys are numbers, however long their names are. */
export class TypeTable {
  readonly #types = new PartedMap<string, Type>()
  readonly #names = new Map<string, WorldStructName>()
  /** The last name that was made for each name of a struct, whatever its module. */
  readonly #lastNames = new Map<string, WorldStructName>()
  /** Names of the world by names of its modules. */
  readonly #openNames = new Map<StructName, WorldStructName>()
  readonly #tags = new Map<Type, TypeTag>()
  #tagNodes = 0
  #nextId = 0

  get count(): number {
    return this.#types.size
  }

  plain(kind: PrimitiveType): Type {
    return this.#intern(kind, (id) => ({ id, kind, size: 1, depth: 1, nameLength: kind.length }))
  }

  vector(element: Type): Type {
    return this.#intern(`v${element.id}`, (id) => ({
      id,
      kind: 'vector',
      element,
      size: 1 + element.size,
      depth: 1 + element.depth,
      nameLength: element.nameLength,
    }))
  }

  struct(address: string, module: string, name: string, typeArguments: readonly Type[]): StructType {
    return this.#struct(this.#nameOf(address, module, name), typeArguments)
  }

  #nameOf(address: string, module: string, name: string): WorldStructName {
    const key = `${address}::${module}::${name}`
    const known = this.#names.get(key)
    if (known) return known
    const made = { id: this.#names.size, address, module, name, addressBytes: hexToBytes(address), plain: undefined }
    this.#names.set(key, made)
    this.#lastNames.set(name, made)
    return made
  }

  /** The name of a struct as a tag has it. For a known name, no text is made. */
  #nameOfTag({ address, module, name }: StructTag): WorldStructName {
    const known = this.#lastNames.get(name)
    if (known && known.module === module && areSameBytes(known.addressBytes, address)) return known
    return this.#nameOf(bytesToHexDigits(address), module, name)
  }

  /** The one object for a name that code of a module has. */
  nameOf(struct: StructName): WorldStructName {
    const known = this.#openNames.get(struct)
    if (known) return known
    const name = this.#nameOf(struct.module.address, struct.module.name, struct.name)
    this.#openNames.set(struct, name)
    return name
  }

  #struct(struct: WorldStructName, typeArguments: readonly Type[]): StructType {
    if (typeArguments.length > 0) return this.#makeStruct(struct, typeArguments)
    struct.plain ??= this.#makeStruct(struct, typeArguments)
    return struct.plain
  }

  #makeStruct(struct: WorldStructName, typeArguments: readonly Type[]): StructType {
    return this.#intern(`s${struct.id}<${ids(typeArguments)}`, (id) => ({
      id,
      kind: 'struct',
      address: struct.address,
      module: struct.module,
      name: struct.name,
      typeArguments,
      size: 1 + totalSize(typeArguments),
      depth: 1 + greatestDepth(typeArguments),
      nameLength: struct.module.length + struct.name.length + totalNameLength(typeArguments),
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
      nameLength: to.nameLength,
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
      nameLength: totalNameLength(parameters) + totalNameLength(results),
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
        return this.#struct(this.nameOf(type.struct), all(type.typeArguments))
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
        const typeArguments = tag.typeArguments.map((one) => this.ofTag(one))
        return this.#struct(this.#nameOfTag(tag), typeArguments)
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
    this.#tagNodes += type.size
    if (this.#tagNodes <= MOST_TAG_NODES) this.#tags.set(type, tag)
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

function totalNameLength(types: readonly Type[]): number {
  let length = 0
  for (const type of types) length += type.nameLength
  return length
}

function greatestDepth(types: readonly Type[]): number {
  let depth = 0
  for (const type of types) depth = Math.max(depth, type.depth)
  return depth
}
