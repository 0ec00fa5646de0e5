import {
  expectLayoutDepth,
  type Layout,
  type LayoutField,
  type LayoutTraits,
  type LayoutVariant,
} from '@ledger-state/bcs'
import { addressToShortHex } from '@ledger-state/core'
import { PRIMITIVE_TYPES, type PrimitiveType, type TypeTag, typeTagSize } from '@ledger-state/type-tag'
import { moduleNotFound, structNotFound, typeArgumentCount, typeTooLarge, unsupportedType } from './errors.js'
import type { FieldDefinition, ModuleId, MoveModule, SignatureToken, StructDefinition } from './module-definition.js'

/** Finds a module as it is at the version in question; undefined if there is none. */
export type GetModule = (id: ModuleId) => MoveModule | undefined

/** Budget of `layoutOf`. */
export interface LayoutOptions {
  /**
   * Most steps of one resolution: types looked at, in type arguments and in fields, and fields and variants laid out.
   * They bound the time, and the `layoutSize` of the result. By default `MAX_LAYOUT_NODES`.
   */
  readonly maxNodes?: number | undefined
}

/**
 * Default budget: 14 times the steps of the largest type of the Aptos framework, the market of an order book (1,156);
 * about 5 ms.
 */
export const MAX_LAYOUT_NODES = 16_384
/** Most types in the text of a type: of the type that is asked for, and of the type of each field. */
const MAX_TYPE_SIZE = 1_024
/** Most nodes of a layout as a tree, in which a shared part is written out in each of its places. */
const MAX_TREE_SIZE = 65_536

/**
 * Finds the layout of a type, through the modules that define it. A type that occurs several times is laid out once,
 * and the layout is shared. Type arguments are resolved even if no field uses them. The exception is an `Object` that
 * is the whole type, because its bytes never depend on its type arguments.
 * @throws `module_not_found`, `struct_not_found`, `type_argument_count`, `unsupported_type`, `type_too_large`
 * @example
 * ```ts
 * import { parseAddress } from '@ledger-state/core'
 * import { layoutOf, readModule, writeModule } from '@ledger-state/move-module'
 * import { parseTypeTag } from '@ledger-state/type-tag'
 *
 * const binary = writeModule({
 *   version: 7,
 *   address: parseAddress('0xcafe'),
 *   name: 'game',
 *   structs: [
 *     { kind: 'struct', name: 'Level', abilities: 8, typeParameters: [], fields: [{ name: 'value', type: { kind: 'u8' } }] },
 *   ],
 * })
 * const layout = layoutOf(parseTypeTag('0xcafe::game::Level'), () => readModule(binary))
 * console.log(layout.kind) // struct
 * ```
 */
export function layoutOf(tag: TypeTag, getModule: GetModule, options: LayoutOptions = {}): Layout {
  return resolveLayout(tag, getModule, options).layout
}

/** A layout with its traits, which `codecOf` then need not measure. */
export interface ResolvedLayout extends LayoutTraits {
  readonly layout: Layout
  /** Number of nodes of the layout as a tree, in which a shared part is written out in each of its places. */
  readonly treeSize: number
  readonly unwritable: 'function' | undefined
}

/** Same as `layoutOf`, with the traits of the layout, which `codecOf` then need not measure. */
export function resolveLayout(tag: TypeTag, getModule: GetModule, options: LayoutOptions = {}): ResolvedLayout {
  if (isWholeObject(tag)) return { layout: { kind: 'object' }, depth: 0, treeSize: 1, unwritable: undefined }
  if (typeTagSize(tag) > MAX_TYPE_SIZE) throw typeTooLarge.tooManyParts(MAX_TYPE_SIZE, 'types in it')
  return new LayoutResolver(getModule, options.maxNodes ?? MAX_LAYOUT_NODES).resolveTag(tag, 0)
}

function isWholeObject(tag: TypeTag): boolean {
  if (tag.kind !== 'struct' || tag.typeArguments.length !== 1) return false
  return isFrameworkType({ address: tag.address, name: tag.module }, tag.name, 'object', 'Object')
}

function isFrameworkType(module: ModuleId, struct: string, frameworkModule: string, frameworkStruct: string): boolean {
  return struct === frameworkStruct && module.name === frameworkModule && addressToShortHex(module.address) === '0x1'
}

/** A type with its type arguments, and its layout. Within one resolution, the same type is always the same object. */
interface ResolvedType extends ResolvedLayout {
  /** Number of the type, unique in one resolution. */
  readonly id: number
  /** Number of types in the text of the type. */
  readonly typeSize: number
}

/** Definition of a struct that was looked up. */
interface KnownStruct {
  /** Number of the struct, unique in one resolution. */
  readonly id: number
  readonly module: ModuleId
  readonly definition: StructDefinition
}

const NO_TYPES: readonly ResolvedType[] = []
/** Ids that all resolutions share: of nothing, of the vector, and of the types without parts. */
const NO_ID = 0
const VECTOR_ID = 1
/**
 * Types without parts by name. Function types have one layout, whatever their parameters, because the bytes of a
 * function value show its types.
 */
const PLAIN_TYPES: ReadonlyMap<string, ResolvedType> = new Map(
  [...PRIMITIVE_TYPES, 'function' as const].map((kind, at) => [
    kind,
    {
      id: 2 + at,
      typeSize: 1,
      layout: { kind },
      depth: 0,
      treeSize: 1,
      unwritable: kind === 'function' ? kind : undefined,
    },
  ]),
)
/** Bound of ids: two of them make one whole number that a double holds. */
const ID_RANGE = 2 ** 26

/**
 * Resolves the types of one request. A client can make each of its types a new one, so that each is resolved again, and
 * the garbage of the work delays all clients. So types are compared by numbers, and their texts are not written.
 */
class LayoutResolver {
  readonly #getModule: GetModule
  readonly #maxNodes: number
  /** Modules by address, then by name. Most types use one object, or a few, for their addresses. */
  readonly #modulesAt = new Map<Uint8Array, Map<string, ReadonlyMap<string, KnownStruct>>>()
  readonly #modulesByText = new Map<string, Map<string, ReadonlyMap<string, KnownStruct>>>()
  #nextId = 2 + PLAIN_TYPES.size
  /**
   * Ids of structs with some of their type arguments, by the id with one argument less and the id of the last argument.
   */
  readonly #applied = new Map<number, number>()
  /** Types by the id of all but the last type argument, and the id of the last one. */
  readonly #resolved = new Map<number, ResolvedType>()
  #nodes = 0

  constructor(getModule: GetModule, maxNodes: number) {
    this.#getModule = getModule
    this.#maxNodes = maxNodes
  }

  resolveTag(tag: TypeTag, depth: number): ResolvedType {
    this.#enter(depth)
    switch (tag.kind) {
      case 'vector':
        return this.#vectorOf(this.resolveTag(tag.element, depth + 1))
      case 'struct': {
        const { address, module, name, typeArguments } = tag
        const struct = this.#findStruct(address, module, name, typeArguments.length)
        if (typeArguments.length === 0) return this.#resolveStruct(struct, NO_TYPES, depth)
        const resolved = new Array<ResolvedType>(typeArguments.length)
        for (let at = 0; at < resolved.length; at++) resolved[at] = this.resolveTag(typeArguments[at]!, depth + 1)
        return this.#resolveStruct(struct, resolved, depth)
      }
      default:
        return plainType(tag.kind)
    }
  }

  /** Resolves a type as a module writes it. `scope` has the type arguments of the enclosing struct. */
  #resolveToken(token: SignatureToken, scope: readonly ResolvedType[], depth: number): ResolvedType {
    this.#enter(depth)
    switch (token.kind) {
      case 'vector':
        return this.#vectorOf(this.#resolveToken(token.element, scope, depth + 1))
      case 'struct': {
        const { module, name, typeArguments } = token
        const struct = this.#findStruct(module.address, module.name, name, typeArguments.length)
        if (typeArguments.length === 0) return this.#resolveStruct(struct, NO_TYPES, depth)
        const resolved = new Array<ResolvedType>(typeArguments.length)
        for (let at = 0; at < resolved.length; at++) {
          resolved[at] = this.#resolveToken(typeArguments[at]!, scope, depth + 1)
        }
        return this.#resolveStruct(struct, resolved, depth)
      }
      case 'typeParameter': {
        const argument = scope[token.index]
        if (argument === undefined) throw typeArgumentCount.unboundTypeParameter(token.index, scope.length)
        return expectShallow(argument, depth)
      }
      case 'reference':
        throw unsupportedType.referenceType()
      default:
        return plainType(token.kind)
    }
  }

  #vectorOf(element: ResolvedType): ResolvedType {
    const key = VECTOR_ID * ID_RANGE + element.id
    const known = this.#resolved.get(key)
    if (known !== undefined) return known
    const type: ResolvedType = {
      id: this.#nextId++,
      typeSize: 1 + element.typeSize,
      layout: { kind: 'vector', element: element.layout },
      depth: 1 + element.depth,
      treeSize: 1 + element.treeSize,
      unwritable: element.unwritable,
    }
    this.#resolved.set(key, type)
    return type
  }

  #resolveStruct(struct: KnownStruct, typeArguments: readonly ResolvedType[], depth: number): ResolvedType {
    let { id } = struct
    const last = typeArguments.length - 1
    for (let at = 0; at < last; at++) id = this.#apply(id, typeArguments[at]!.id)
    const key = id * ID_RANGE + (last < 0 ? NO_ID : typeArguments[last]!.id)
    let type = this.#resolved.get(key)
    if (type === undefined) {
      type = this.#layOut(struct, typeArguments, depth)
      this.#resolved.set(key, type)
    }
    return expectShallow(type, depth)
  }

  #layOut({ module, definition }: KnownStruct, typeArguments: readonly ResolvedType[], depth: number): ResolvedType {
    const { name } = definition
    let typeSize = 1
    for (const argument of typeArguments) typeSize += argument.typeSize
    if (typeSize > MAX_TYPE_SIZE) throw typeTooLarge.tooManyParts(MAX_TYPE_SIZE, 'types in the type of a field')

    const [element] = typeArguments
    const traits: PartTraits = { depth: 0, treeSize: 1, unwritable: undefined }
    let layout: Layout
    if (isFrameworkType(module, name, 'string', 'String')) layout = { kind: 'string' }
    else if (isFrameworkType(module, name, 'object', 'Object')) layout = { kind: 'object' }
    else if (definition.kind === 'native') throw unsupportedType.nativeType(module, name)
    else if (isFrameworkType(module, name, 'option', 'Option') && element) {
      layout = { kind: 'option', declaredAs: definition.kind, element: element.layout }
      addPart(traits, element)
    } else if (definition.kind === 'struct') {
      layout = { kind: 'struct', name, fields: this.#layOutFields(definition.fields, typeArguments, depth, traits) }
    } else {
      const variants: LayoutVariant[] = []
      for (const variant of definition.variants) {
        this.#spend()
        const fields = this.#layOutFields(variant.fields, typeArguments, depth, traits)
        variants.push({ name: variant.name, fields })
      }
      layout = { kind: 'enum', name, variants }
    }
    const id = this.#nextId++
    return { id, typeSize, layout, depth: traits.depth, treeSize: traits.treeSize, unwritable: traits.unwritable }
  }

  /** Lays out fields, and adds their traits to the traits of the struct or enum. */
  #layOutFields(
    definitions: readonly FieldDefinition[],
    typeArguments: readonly ResolvedType[],
    depth: number,
    traits: PartTraits,
  ): LayoutField[] {
    const fields = new Array<LayoutField>(definitions.length)
    for (let at = 0; at < fields.length; at++) {
      this.#spend()
      const field = definitions[at]!
      const type = this.#resolveToken(field.type, typeArguments, depth + 1)
      addPart(traits, type)
      traits.treeSize++
      if (traits.treeSize > MAX_TREE_SIZE) throw typeTooLarge.tooManyParts(MAX_TREE_SIZE, 'parts')
      fields[at] = { name: field.name, layout: type.layout }
    }
    return fields
  }

  #findStruct(address: Uint8Array, module: string, name: string, argumentCount: number): KnownStruct {
    const struct = this.#structsOf(address, module, name).get(name)
    if (struct === undefined) throw structNotFound({ address, name: module }, name)
    const expected = struct.definition.typeParameters.length
    if (argumentCount !== expected) {
      throw typeArgumentCount.wrongTypeArgumentCount({ address, name: module }, name, argumentCount, expected)
    }
    return struct
  }

  #structsOf(address: Uint8Array, name: string, wanted: string): ReadonlyMap<string, KnownStruct> {
    const modules = this.#modulesAt.get(address) ?? this.#findModulesAt(address)
    const known = modules.get(name)
    if (known) return known
    const id = { address, name }
    const module = this.#getModule(id)
    if (!module) throw moduleNotFound(id, wanted)
    const structs = new Map<string, KnownStruct>()
    for (const definition of module.structs) {
      structs.set(definition.name, { id: this.#nextId++, module: id, definition })
    }
    modules.set(name, structs)
    return structs
  }

  #findModulesAt(address: Uint8Array): Map<string, ReadonlyMap<string, KnownStruct>> {
    const text = addressToShortHex(address)
    const modules = this.#modulesByText.get(text) ?? new Map<string, ReadonlyMap<string, KnownStruct>>()
    this.#modulesByText.set(text, modules)
    this.#modulesAt.set(address, modules)
    return modules
  }

  #apply(id: number, argument: number): number {
    const key = id * ID_RANGE + argument
    const known = this.#applied.get(key)
    if (known !== undefined) return known
    const applied = this.#nextId++
    this.#applied.set(key, applied)
    return applied
  }

  #enter(depth: number): void {
    expectLayoutDepth(depth)
    this.#spend()
  }

  #spend(): void {
    if (++this.#nodes > this.#maxNodes) throw typeTooLarge.tooManyParts(this.#maxNodes, 'parts')
  }
}

/** Traits of a layout while its parts are laid out. */
interface PartTraits {
  depth: number
  treeSize: number
  unwritable: 'function' | undefined
}

function addPart(traits: PartTraits, part: ResolvedType): void {
  traits.depth = Math.max(traits.depth, 1 + part.depth)
  traits.treeSize += part.treeSize
  traits.unwritable ??= part.unwritable
}

function plainType(kind: PrimitiveType | 'function'): ResolvedType {
  if (kind === 'signer') throw unsupportedType.signerType()
  return PLAIN_TYPES.get(kind)!
}

/** Checks the depth of a shared layout: it may be nested deeper than where it was laid out. */
function expectShallow(type: ResolvedType, depth: number): ResolvedType {
  expectLayoutDepth(depth + type.depth)
  return type
}
