import type { Layout, LayoutField } from '@ledger-state/bcs'
import { addressToLongHex, addressToShortHex, LedgerStateError } from '@ledger-state/core'
import { type FunctionSlot, type StructTag, type TypeTag, typeTagToText } from '@ledger-state/type-tag'
import type { FieldDefinition, ModuleId, MoveModule, SignatureToken, StructDefinition } from './module-definition.js'

/** Finds a module as it stands at the version in question; undefined where there is none. */
export type GetModule = (id: ModuleId) => MoveModule | undefined

/** Structs and vectors around the innermost field; the limit of the reference on values. */
const MAX_LAYOUT_DEPTH = 128
/** Layouts, substituted types and fields that one type may need in all. */
const MAX_LAYOUT_WORK = 65_536
/** Types inside one substituted type. */
const MAX_TYPE_SIZE = 1_024

/**
 * The layout of a type, resolved through the modules that define it. Type arguments are resolved even where no field
 * uses them; only those of an `Object` that is the whole type are not, since its bytes never depend on them.
 * @throws `module_not_found`, `struct_not_found`, `type_argument_count`, `unsupported_type`, `type_too_large`
 */
export function layoutOf(tag: TypeTag, getModule: GetModule): Layout {
  if (tag.kind === 'struct' && isFrameworkType(tag, 'object', 'Object') && tag.typeArguments.length === 1) {
    return { kind: 'object' }
  }
  return new LayoutResolver(getModule).resolve(tag, 0)
}

const FRAMEWORK_ADDRESS = addressToLongHex(Uint8Array.from({ length: 32 }, (_, at) => (at === 31 ? 1 : 0)))

function isFrameworkType(tag: StructTag, module: string, name: string): boolean {
  return tag.name === name && tag.module === module && addressToLongHex(tag.address) === FRAMEWORK_ADDRESS
}

class LayoutResolver {
  readonly #getModule: GetModule
  readonly #resolved = new Map<string, Layout>()
  readonly #sizes = new Map<TypeTag, number>()
  #work = 0

  constructor(getModule: GetModule) {
    this.#getModule = getModule
  }

  resolve(tag: TypeTag, depth: number): Layout {
    this.#spend(tag)
    if (depth > MAX_LAYOUT_DEPTH) throw tooLarge(`is nested more than ${MAX_LAYOUT_DEPTH} levels deep`)
    switch (tag.kind) {
      case 'vector':
        return { kind: 'vector', element: this.resolve(tag.element, depth + 1) }
      case 'struct':
        return this.#resolveStruct(tag, depth)
      case 'function':
        return { kind: 'function' }
      case 'signer':
        throw new LedgerStateError('unsupported_type', 'Type layouts cannot contain signer: it has no stored values')
      default:
        return tag
    }
  }

  #resolveStruct(tag: StructTag, depth: number): Layout {
    const text = typeTagToText(tag)
    const known = this.#resolved.get(text)
    // A shared layout is spent again: what prints or compiles it walks every place that it stands in.
    if (known) {
      this.#work += layoutSize(known)
      this.#spend(tag)
      return known
    }
    const definition = this.#findDefinition(tag)
    if (definition.typeParameters.length !== tag.typeArguments.length) {
      const message = `Wrong number of type arguments for struct ${text}: found ${tag.typeArguments.length}, expected ${definition.typeParameters.length}`
      throw new LedgerStateError('type_argument_count', message)
    }
    const typeArguments = tag.typeArguments.map((argument) => this.resolve(argument, depth + 1))
    const layout = this.#layoutOfDefinition(tag, definition, typeArguments, depth)
    this.#resolved.set(text, layout)
    return layout
  }

  #layoutOfDefinition(tag: StructTag, definition: StructDefinition, typeArguments: Layout[], depth: number): Layout {
    if (isFrameworkType(tag, 'string', 'String')) return { kind: 'string' }
    if (isFrameworkType(tag, 'object', 'Object')) return { kind: 'object' }
    if (isFrameworkType(tag, 'option', 'Option') && definition.kind !== 'native' && typeArguments[0]) {
      return { kind: 'option', declaredAs: definition.kind, element: typeArguments[0] }
    }
    const fields = (definitions: readonly FieldDefinition[]): LayoutField[] =>
      definitions.map(({ name, type }) => ({ name, layout: this.#layoutOfToken(type, tag.typeArguments, depth + 1) }))
    switch (definition.kind) {
      case 'struct':
        return { kind: 'struct', name: definition.name, fields: fields(definition.fields) }
      case 'enum': {
        const variants = definition.variants.map((variant) => ({ name: variant.name, fields: fields(variant.fields) }))
        return { kind: 'enum', name: definition.name, variants }
      }
      case 'native':
        throw new LedgerStateError('unsupported_type', `the native type ${typeTagToText(tag)} has no layout`)
    }
  }

  #layoutOfToken(token: SignatureToken, typeArguments: readonly TypeTag[], depth: number): Layout {
    return this.resolve(this.#substitute(token, typeArguments), depth)
  }

  #substitute(token: SignatureToken, typeArguments: readonly TypeTag[]): TypeTag {
    this.#work++
    switch (token.kind) {
      case 'vector':
        return { kind: 'vector', element: this.#substitute(token.element, typeArguments) }
      case 'struct': {
        const { address, name: module } = token.module
        const inner = token.typeArguments.map((argument) => this.#substitute(argument, typeArguments))
        return { kind: 'struct', address, module, name: token.name, typeArguments: inner }
      }
      case 'typeParameter': {
        const argument = typeArguments[token.index]
        if (argument) return argument
        throw new LedgerStateError('type_argument_count', `type parameter ${token.index} of ${typeArguments.length}`)
      }
      case 'function': {
        const slots = (tokens: readonly SignatureToken[]) =>
          tokens.map((slot) => this.#substituteSlot(slot, typeArguments))
        const { kind, abilities } = token
        return { kind, abilities, parameters: slots(token.parameters), results: slots(token.results) }
      }
      case 'reference':
        throw new LedgerStateError('unsupported_type', 'a reference type as part of a stored type has no layout')
      default:
        return token
    }
  }

  #substituteSlot(token: SignatureToken, typeArguments: readonly TypeTag[]): FunctionSlot {
    const [passing, inner] =
      token.kind !== 'reference'
        ? (['value', token] as const)
        : ([token.mutable ? 'mutableReference' : 'reference', token.to] as const)
    return { passing, type: this.#substitute(inner, typeArguments) }
  }

  #findDefinition(tag: StructTag): StructDefinition {
    const module = this.#getModule({ address: tag.address, name: tag.module })
    const moduleText = `${addressToShortHex(tag.address)}::${tag.module}`
    if (!module) {
      throw new LedgerStateError(
        'module_not_found',
        `Could not find module ${moduleText} of type ${typeTagToText(tag)}`,
      )
    }
    const definition = module.structs.find(({ name }) => name === tag.name)
    if (definition) return definition
    throw new LedgerStateError('struct_not_found', `Could not find struct named ${tag.name} in module ${moduleText}`)
  }

  #spend(tag: TypeTag): void {
    if (++this.#work > MAX_LAYOUT_WORK) throw tooLarge(`has more than ${MAX_LAYOUT_WORK} parts`)
    if (this.#sizeOf(tag) > MAX_TYPE_SIZE) throw tooLarge(`names more than ${MAX_TYPE_SIZE} types`)
  }

  /** Types in a tag. A substituted tag shares its parts, so its size may be exponential in the work to build it. */
  #sizeOf(tag: TypeTag): number {
    const known = this.#sizes.get(tag)
    if (known !== undefined) return known
    const size = partsOf(tag).reduce((sum, part) => sum + this.#sizeOf(part), 1)
    this.#sizes.set(tag, size)
    return size
  }
}

function partsOf(tag: TypeTag): readonly TypeTag[] {
  switch (tag.kind) {
    case 'vector':
      return [tag.element]
    case 'struct':
      return tag.typeArguments
    case 'function':
      return [...tag.parameters, ...tag.results].map(({ type }) => type)
    default:
      return []
  }
}

function tooLarge(why: string): LedgerStateError {
  return new LedgerStateError('type_too_large', `the type ${why}`)
}

const LAYOUT_SIZES = new WeakMap<Layout, number>()

function layoutSize(layout: Layout): number {
  const known = LAYOUT_SIZES.get(layout)
  if (known !== undefined) return known
  const inner =
    layout.kind === 'vector' || layout.kind === 'option'
      ? [layout.element]
      : layout.kind === 'struct'
        ? layout.fields.map((field) => field.layout)
        : layout.kind === 'enum'
          ? layout.variants.flatMap((variant) => variant.fields.map((field) => field.layout))
          : []
  const size = inner.reduce((sum, part) => sum + layoutSize(part), 1)
  LAYOUT_SIZES.set(layout, size)
  return size
}
