import { expectLayoutDepth, type Layout, type LayoutField } from '@ledger-state/bcs'
import { addressToShortHex } from '@ledger-state/core'
import { type PrimitiveType, type TypeTag, typeTagSize } from '@ledger-state/type-tag'
import {
  moduleNotFound,
  nativeType,
  referenceType,
  signerType,
  structNotFound,
  typeTooLarge,
  unboundTypeParameter,
  wrongTypeArgumentCount,
} from './errors.js'
import type { FieldDefinition, ModuleId, MoveModule, SignatureToken, StructDefinition } from './module-definition.js'

/** Finds a module as it stands at the version in question; undefined where there is none. */
export type GetModule = (id: ModuleId) => MoveModule | undefined

/** The budget of `layoutOf`. */
export interface LayoutOptions {
  /**
   * The most steps of one resolution: types looked at, in type arguments and in fields, and fields and variants laid out.
   * They bound the time, and the `layoutSize` of the result. By default `MAX_LAYOUT_NODES`.
   */
  readonly maxNodes?: number | undefined
}

/** 14 times what the largest type of the Aptos framework takes, the market of an order book (1,156); about 5 ms. */
export const MAX_LAYOUT_NODES = 16_384
/** The most types in the text of a type: of that which is asked for, and of each that a field has. */
const MAX_TYPE_SIZE = 1_024
/** The most nodes of a layout that is written out as a tree, where a shared part stands in each of its places. */
const MAX_TREE_SIZE = 65_536

/**
 * The layout of a type, resolved through the modules that define it. A type that occurs several times is laid out once, and
 * the layout is shared. Type arguments are resolved even where no field uses them; only those of an `Object` that is the
 * whole type are not, since its bytes never depend on them.
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
  if (isWholeObject(tag)) return { kind: 'object' }
  if (typeTagSize(tag) > MAX_TYPE_SIZE) throw typeTooLarge(MAX_TYPE_SIZE, 'types in it')
  return new LayoutResolver(getModule, options.maxNodes ?? MAX_LAYOUT_NODES).resolveTag(tag, 0).layout
}

function isWholeObject(tag: TypeTag): boolean {
  if (tag.kind !== 'struct' || tag.typeArguments.length !== 1) return false
  return isFrameworkType({ address: tag.address, name: tag.module }, tag.name, 'object', 'Object')
}

function isFrameworkType(module: ModuleId, struct: string, frameworkModule: string, frameworkStruct: string): boolean {
  return struct === frameworkStruct && module.name === frameworkModule && addressToShortHex(module.address) === '0x1'
}

/** A type with its type arguments, and its layout. One resolution resolves the same type to the same object. */
interface ResolvedType {
  /** Unique in one resolution. */
  readonly id: number
  /** Types that its text names. */
  readonly typeSize: number
  readonly layout: Layout
  /** Levels of layouts inside the layout. */
  readonly depth: number
  /** Nodes of the layout as a tree. */
  readonly treeSize: number
}

/** A definition that was looked up. */
interface KnownStruct {
  /** Unique in one resolution. */
  readonly id: number
  readonly module: ModuleId
  readonly definition: StructDefinition
}

class LayoutResolver {
  readonly #getModule: GetModule
  readonly #maxNodes: number
  readonly #modules = new Map<string, ReadonlyMap<string, KnownStruct>>()
  #structs = 0
  /** By the ids of a definition and of its type arguments: types are told apart without writing out their texts. */
  readonly #resolved = new Map<string, ResolvedType>()
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
        const struct = this.#findStruct({ address: tag.address, name: tag.module }, tag.name, tag.typeArguments.length)
        const typeArguments = tag.typeArguments.map((argument) => this.resolveTag(argument, depth + 1))
        return this.#resolveStruct(struct, typeArguments, depth)
      }
      default:
        return this.#resolvePlain(tag.kind)
    }
  }

  /** Resolves a type as a module writes it; `scope` has the type arguments of the struct that it stands in. */
  #resolveToken(token: SignatureToken, scope: readonly ResolvedType[], depth: number): ResolvedType {
    this.#enter(depth)
    switch (token.kind) {
      case 'vector':
        return this.#vectorOf(this.#resolveToken(token.element, scope, depth + 1))
      case 'struct': {
        const struct = this.#findStruct(token.module, token.name, token.typeArguments.length)
        const typeArguments = token.typeArguments.map((argument) => this.#resolveToken(argument, scope, depth + 1))
        return this.#resolveStruct(struct, typeArguments, depth)
      }
      case 'typeParameter': {
        const argument = scope[token.index]
        if (argument === undefined) throw unboundTypeParameter(token.index, scope.length)
        return expectShallow(argument, depth)
      }
      case 'reference':
        throw referenceType()
      default:
        return this.#resolvePlain(token.kind)
    }
  }

  /** The bytes of a function value show its types: a function type has one layout, whatever its parameters. */
  #resolvePlain(kind: PrimitiveType | 'function'): ResolvedType {
    if (kind === 'signer') throw signerType()
    return this.#once(kind, () => ({ typeSize: 1, layout: { kind }, depth: 0, treeSize: 1 }))
  }

  #vectorOf(element: ResolvedType): ResolvedType {
    return this.#once(`vector<${element.id}>`, () => ({
      typeSize: 1 + element.typeSize,
      layout: { kind: 'vector', element: element.layout },
      depth: 1 + element.depth,
      treeSize: 1 + element.treeSize,
    }))
  }

  #resolveStruct(struct: KnownStruct, typeArguments: readonly ResolvedType[], depth: number): ResolvedType {
    const key = `${struct.id}<${typeArguments.map(({ id }) => id).join()}>`
    return expectShallow(
      this.#once(key, () => this.#layOut(struct, typeArguments, depth)),
      depth,
    )
  }

  #layOut(
    { module, definition }: KnownStruct,
    typeArguments: readonly ResolvedType[],
    depth: number,
  ): Omit<ResolvedType, 'id'> {
    const { name } = definition
    const typeSize = typeArguments.reduce((sum, argument) => sum + argument.typeSize, 1)
    if (typeSize > MAX_TYPE_SIZE) throw typeTooLarge(MAX_TYPE_SIZE, 'types in the type of a field')

    const [element] = typeArguments
    if (isFrameworkType(module, name, 'string', 'String')) {
      return { typeSize, layout: { kind: 'string' }, depth: 0, treeSize: 1 }
    }
    if (isFrameworkType(module, name, 'object', 'Object')) {
      return { typeSize, layout: { kind: 'object' }, depth: 0, treeSize: 1 }
    }
    if (isFrameworkType(module, name, 'option', 'Option') && definition.kind !== 'native' && element) {
      const layout: Layout = { kind: 'option', declaredAs: definition.kind, element: element.layout }
      return { typeSize, layout, depth: 1 + element.depth, treeSize: 1 + element.treeSize }
    }

    let levels = 0
    let treeSize = 1
    const layOutFields = (definitions: readonly FieldDefinition[]): LayoutField[] =>
      definitions.map((field) => {
        this.#spend()
        const type = this.#resolveToken(field.type, typeArguments, depth + 1)
        levels = Math.max(levels, 1 + type.depth)
        treeSize += 1 + type.treeSize
        if (treeSize > MAX_TREE_SIZE) throw typeTooLarge(MAX_TREE_SIZE, 'parts')
        return { name: field.name, layout: type.layout }
      })
    switch (definition.kind) {
      case 'struct': {
        const fields = layOutFields(definition.fields)
        return { typeSize, layout: { kind: 'struct', name, fields }, depth: levels, treeSize }
      }
      case 'enum': {
        const variants = definition.variants.map((variant) => {
          this.#spend()
          return { name: variant.name, fields: layOutFields(variant.fields) }
        })
        return { typeSize, layout: { kind: 'enum', name, variants }, depth: levels, treeSize }
      }
      case 'native':
        throw nativeType(module, name)
    }
  }

  #findStruct(module: ModuleId, name: string, argumentCount: number): KnownStruct {
    const struct = this.#structsOf(module, name).get(name)
    if (struct === undefined) throw structNotFound(module, name)
    const expected = struct.definition.typeParameters.length
    if (argumentCount !== expected) throw wrongTypeArgumentCount(module, name, argumentCount, expected)
    return struct
  }

  #structsOf(id: ModuleId, wanted: string): ReadonlyMap<string, KnownStruct> {
    const text = `${addressToShortHex(id.address)}::${id.name}`
    const known = this.#modules.get(text)
    if (known) return known
    const module = this.#getModule(id)
    if (!module) throw moduleNotFound(id, wanted)
    const structs = new Map<string, KnownStruct>()
    for (const definition of module.structs) {
      structs.set(definition.name, { id: this.#structs++, module: id, definition })
    }
    this.#modules.set(text, structs)
    return structs
  }

  #once(key: string, resolve: () => Omit<ResolvedType, 'id'>): ResolvedType {
    const known = this.#resolved.get(key)
    if (known) return known
    const resolved = { ...resolve(), id: this.#resolved.size }
    this.#resolved.set(key, resolved)
    return resolved
  }

  #enter(depth: number): void {
    expectLayoutDepth(depth)
    this.#spend()
  }

  #spend(): void {
    if (++this.#nodes > this.#maxNodes) throw typeTooLarge(this.#maxNodes, 'parts')
  }
}

/** A layout that is shared may stand deeper than where it was laid out. */
function expectShallow(type: ResolvedType, depth: number): ResolvedType {
  expectLayoutDepth(depth + type.depth)
  return type
}
