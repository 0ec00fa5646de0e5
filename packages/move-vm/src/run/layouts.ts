import type { FieldDefinition } from '@ledger-state/move-module'
import { STATUS } from '../faults/status.js'
import { malformedCode, VmFault } from '../faults/vm-fault.js'
import type { LoadedStruct } from '../load/loaded-module.js'
import type { TypeLayout, TypeLayoutField } from '../natives/native.js'
import { integerTypeOf } from '../types/integer-type.js'
import {
  BYTES_LAYOUT,
  enumLayout,
  LAYOUT,
  plainLayout,
  type RuntimeLayout,
  structLayout,
  vectorLayout,
} from '../types/runtime-layout.js'
import type { StructType, Type } from '../types/type.js'
import { MAX_VALUE_DEPTH, valueTooDeep } from '../values/copy-value.js'
import type { ModuleInstance } from './instances.js'
import type { LayoutEntry } from './layout-tables.js'
import type { World } from './world.js'

/** Most nodes of a layout, from gas feature version 34 on and before. */
export const MAX_RUNTIME_LAYOUT_NODES = { since34: 512, before: 256 } as const

/** Most parts of a type that are visited. */
const MAX_COST = 2_000

const FRAMEWORK = '1'.padStart(64, '0')

/** Layouts of the types of a world, by the modules that define them. */
export class Layouts {
  readonly #world: World
  readonly #maxNodes: number

  constructor(world: World, maxNodes: number) {
    this.#world = world
    this.#maxNodes = maxNodes
  }

  #use<T>(entry: LayoutEntry<T>): T {
    if (entry.run !== this.#world.run) {
      for (const module of entry.modules) this.#world.use(module)
      entry.run = this.#world.run
      this.#world.charge(entry.cost)
    }
    return entry.value
  }

  /**
   * The layout of a type.
   * @throws VmFault if it is too large or too deep or a struct does not exist; LackingKeys, StaleWorld
   */
  layoutOf(type: Type): RuntimeLayout {
    const layout = this.#use(this.#layOut(type, 1, 0))
    if (layout.nodes > this.#maxNodes) throw tooManyNodes(this.#maxNodes)
    return layout
  }

  /** Lays out a type. `before` is the number of nodes that the whole layout has so far. */
  #layOut(type: Type, depth: number, before: number): LayoutEntry<RuntimeLayout> {
    const known = this.#world.layouts.layouts[type.id]
    const entry = known ?? this.#makeLayout(type, depth, before)
    if (before + entry.value.nodes > this.#maxNodes) throw tooManyNodes(this.#maxNodes)
    if (depth + entry.value.depth - 1 > MAX_VALUE_DEPTH) throw layoutTooDeep()
    this.#world.layouts.layouts[type.id] = entry
    return entry
  }

  #makeLayout(type: Type, depth: number, before: number): LayoutEntry<RuntimeLayout> {
    if (depth > MAX_VALUE_DEPTH) throw layoutTooDeep()
    switch (type.kind) {
      case 'vector': {
        if (type.element.kind === 'u8') return this.#entry(BYTES_LAYOUT, NO_MODULES)
        const { value, modules } = this.#layOut(type.element, depth + 1, before + 1)
        return this.#entry(vectorLayout(value), modules)
      }
      case 'struct':
        return this.#makeStructLayout(type, depth, before)
      case 'reference':
        throw malformedCode('a layout of a reference')
      case 'function':
        return this.#entry(plainLayout(LAYOUT.function), NO_MODULES)
      case 'bool':
      case 'address':
      case 'signer':
        return this.#entry(plainLayout(LAYOUT[type.kind]), NO_MODULES)
      default:
        return this.#entry(plainLayout(integerTypeOf(type.kind)), NO_MODULES)
    }
  }

  #makeStructLayout(type: StructType, depth: number, before: number): LayoutEntry<RuntimeLayout> {
    const typeLayout = this.typeLayout(type)
    const modules = new Set([this.#world.moduleOf(type)])
    let nodes = before + 1
    const fieldsOf = (fields: readonly TypeLayoutField[]) =>
      fields.map((field) => {
        const entry = this.#layOut(field.type, depth + 1, nodes)
        nodes += entry.value.nodes
        for (const module of entry.modules) modules.add(module)
        return entry.value
      })
    if (typeLayout.kind === 'struct') return this.#entry(structLayout(fieldsOf(typeLayout.fields)), modules)
    if (typeLayout.kind !== 'enum') throw malformedCode(`a value of the native type ${type.name}`)
    return this.#entry(enumLayout(typeLayout.variants.map(({ fields }) => fieldsOf(fields))), modules)
  }

  #entry(value: RuntimeLayout, modules: ReadonlySet<ModuleInstance>): LayoutEntry<RuntimeLayout> {
    return { value, modules, cost: value.nodes, run: 0 }
  }

  /**
   * The parts of a type, with names and types.
   * @throws VmFault, LackingKeys, StaleWorld
   */
  typeLayout(type: Type): TypeLayout {
    switch (type.kind) {
      case 'vector':
        return { kind: 'vector', element: type.element }
      case 'function':
        return { kind: 'function' }
      case 'struct': {
        const module = this.#world.moduleOf(type)
        const known = this.#world.layouts.typeLayouts[type.id]
        if (known) return known
        const layout = this.#structLayout(type, module.loaded.structs.get(type.name)!)
        this.#world.layouts.typeLayouts[type.id] = layout
        return layout
      }
      default:
        return { kind: 'plain' }
    }
  }

  #structLayout(type: StructType, struct: LoadedStruct): TypeLayout {
    const { definition } = struct
    const fieldsOf = (fields: readonly FieldDefinition[]) =>
      fields.map((field) => ({ name: field.name, type: this.#fieldType(struct, field, type) }))
    if (definition.kind === 'struct') return { kind: 'struct', fields: fieldsOf(definition.fields) }
    if (definition.kind === 'native') return { kind: 'plain' }
    return {
      kind: 'enum',
      variants: definition.variants.map(({ name, fields }) => ({ name, fields: fieldsOf(fields) })),
    }
  }

  #fieldType({ module }: LoadedStruct, field: FieldDefinition, { typeArguments }: StructType): Type {
    return this.#world.types.instantiate(module.types.of(field.type), typeArguments)
  }

  /**
   * Whether values of a type hold an `Option` of the framework.
   * @throws VmFault, LackingKeys
   */
  holdsOption(type: Type): boolean {
    // Computing the layout first makes sure that the number of parts is bounded.
    this.layoutOf(type)
    return this.#holdsOption(type)
  }

  #holdsOption(type: Type): boolean {
    if (type.kind === 'struct' && type.name === 'Option' && type.module === 'option' && type.address === FRAMEWORK) {
      return true
    }
    const layout = this.typeLayout(type)
    const inFields = (fields: readonly { readonly type: Type }[]) =>
      fields.some((field) => this.#holdsOption(field.type))
    switch (layout.kind) {
      case 'vector':
        return this.#holdsOption(layout.element)
      case 'struct':
        return inFields(layout.fields)
      case 'enum':
        return layout.variants.some(({ fields }) => inFields(fields))
      default:
        return false
    }
  }

  /**
   * Checks that values of a type are not too deep.
   * @throws VmFault, LackingKeys, StaleWorld
   */
  expectShallow(type: Type): void {
    if (this.#use(this.#depthOf(type, 1)) > MAX_VALUE_DEPTH) throw valueTooDeep()
  }

  /** Levels of the values of a type; `above` is the number of levels that it stands under. */
  #depthOf(type: Type, above: number): LayoutEntry<number> {
    const known = this.#world.layouts.depths[type.id]
    if (known) return known
    if (above > MAX_VALUE_DEPTH) throw valueTooDeep()
    const modules = new Set<ModuleInstance>()
    if (type.kind === 'struct') modules.add(this.#world.moduleOf(type))
    let deepest = 0
    let cost = 1
    for (const part of partsOf(this.typeLayout(type))) {
      const entry = this.#depthOf(part, above + 1)
      deepest = Math.max(deepest, entry.value)
      cost = Math.min(cost + entry.cost, MAX_COST)
      for (const module of entry.modules) modules.add(module)
    }
    const entry = { value: 1 + deepest, modules, cost, run: 0 }
    this.#world.layouts.depths[type.id] = entry
    return entry
  }
}

const NO_MODULES: ReadonlySet<ModuleInstance> = new Set()

function partsOf(layout: TypeLayout): readonly Type[] {
  switch (layout.kind) {
    case 'vector':
      return [layout.element]
    case 'struct':
      return layout.fields.map(({ type }) => type)
    case 'enum':
      return layout.variants.flatMap(({ fields }) => fields.map(({ type }) => type))
    default:
      return []
  }
}

function tooManyNodes(most: number): VmFault {
  const text = `Number of type nodes when constructing type layout exceeded the maximum of ${most}`
  return new VmFault(STATUS.TOO_MANY_TYPE_NODES, text)
}

function layoutTooDeep(): VmFault {
  const text = `Depth of a layout exceeded the maximum of ${MAX_VALUE_DEPTH} during construction`
  return new VmFault(STATUS.VM_MAX_VALUE_DEPTH_REACHED, text)
}
