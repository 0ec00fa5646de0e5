import type { FieldDefinition, StructDefinition } from '@ledger-state/move-module'
import type { Meter } from '../budget/meter.js'
import { STATUS } from '../faults/status.js'
import { malformedCode, VmFault } from '../faults/vm-fault.js'
import { fieldsOf, type LoadedStruct } from '../load/loaded-module.js'
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
import { type StructType, TYPE_BYTES, TYPE_PART_BYTES, TYPE_WORK, type Type } from '../types/type.js'
import { MAX_VALUE_DEPTH } from '../values/copy-value.js'
import type { ModuleInstance } from './instances.js'
import type { FieldCost, LayoutEntry } from './layout-tables.js'
import { TypeDepths } from './type-depths.js'
import type { World } from './world.js'

/** Most nodes of a layout, since gas feature version 34 and before. */
export const MAX_RUNTIME_LAYOUT_NODES = { since34: 512, before: 256 } as const

const FRAMEWORK = '1'.padStart(64, '0')

/** Heap bytes of a layout, and of a field with its name; measured on Node 24 (176 for a vector). */
const LAYOUT_BYTES = 192
const FIELD_BYTES = 80
const LAYOUT_WORK = 2

/** Cost of the layout of a type that is not charged yet when the layout is done. */
interface Cost {
  work: number
  bytes: number
}

/**
 * Layouts of types for one run, by the modules that define them. The charge for a type depends only on the type,
 * whether an earlier run has laid it out or not.
 */
export class Layouts {
  readonly #world: World
  readonly #meter: Meter
  readonly #maxNodes: number
  #depths: TypeDepths | undefined
  /** Structs with fields that this run has been charged for; undefined if there are none. */
  #charged: Set<StructType> | undefined

  constructor(world: World, maxNodes: number) {
    this.#world = world
    this.#meter = world.meter
    this.#maxNodes = maxNodes
  }

  /**
   * The layout of a type.
   * @throws VmFault if it is too large or too deep or a struct does not exist; LackingKeys, StaleWorld, TurnOver
   */
  layoutOf(type: Type): RuntimeLayout {
    const known = this.#world.layouts.layouts[type.id]
    if (known?.run === this.#world.run) return known.value
    const entry = this.#layOut(type, 1, 0)
    entry.run = this.#world.run
    this.#meter.keep(entry.work, entry.bytes)
    return entry.value
  }

  #charge(cost: Cost, work: number, bytes: number): void {
    cost.work += work
    cost.bytes += bytes
    this.#meter.chargeInstructions(work)
    this.#meter.chargeBytes(bytes)
  }

  /** Lays out a type. `before` is the number of nodes that the whole layout has so far. */
  #layOut(type: Type, depth: number, before: number): LayoutEntry {
    const known = this.#world.layouts.layouts[type.id]
    if (known && this.#fits(known, depth, before)) {
      for (const module of known.modules) this.#world.use(module)
      this.#meter.chargeInstructions(known.work)
      this.#meter.chargeBytes(known.bytes)
      return known
    }
    const entry = this.#makeLayout(type, depth, before)
    if (before + entry.value.nodes > this.#maxNodes) throw tooManyNodes(this.#maxNodes)
    if (depth + entry.value.depth - 1 > MAX_VALUE_DEPTH) throw layoutTooDeep()
    this.#world.layouts.layouts[type.id] = entry
    return entry
  }

  /**
   * Whether a known layout may be used. If not, it is made again, which ends with the fault that it has in a new world,
   * or finds that its modules are not the state's.
   */
  #fits({ value, work, bytes, modules }: LayoutEntry, depth: number, before: number): boolean {
    if (before + value.nodes > this.#maxNodes || depth + value.depth - 1 > MAX_VALUE_DEPTH) return false
    return this.#meter.hasRoomFor(work, bytes, this.#world.costOf(modules))
  }

  #makeLayout(type: Type, depth: number, before: number): LayoutEntry {
    if (depth > MAX_VALUE_DEPTH) throw layoutTooDeep()
    this.#meter.expectTurn()
    const cost: Cost = { work: 0, bytes: 0 }
    this.#charge(cost, LAYOUT_WORK, LAYOUT_BYTES)
    const modules = new Set<ModuleInstance>()
    const value = this.#valueOf(type, depth, before, cost, modules)
    this.#charge(cost, modules.size, 0)
    this.#meter.countWork(LAYOUT_WORK + modules.size)
    return { value, modules: [...modules], work: cost.work, bytes: cost.bytes, run: 0 }
  }

  #part(type: Type, depth: number, before: number, cost: Cost, modules: Set<ModuleInstance>): RuntimeLayout {
    const part = this.#layOut(type, depth, before)
    cost.work += part.work
    cost.bytes += part.bytes
    for (const module of part.modules) modules.add(module)
    return part.value
  }

  #valueOf(type: Type, depth: number, before: number, cost: Cost, modules: Set<ModuleInstance>): RuntimeLayout {
    switch (type.kind) {
      case 'vector':
        if (type.element.kind === 'u8') return BYTES_LAYOUT
        return vectorLayout(this.#part(type.element, depth + 1, before + 1, cost, modules))
      case 'struct':
        return this.#structValue(type, depth, before, cost, modules)
      case 'reference':
        throw malformedCode('a layout of a reference')
      case 'function':
        return plainLayout(LAYOUT.function)
      case 'bool':
      case 'address':
      case 'signer':
        return plainLayout(LAYOUT[type.kind])
      default:
        return plainLayout(integerTypeOf(type.kind))
    }
  }

  #structValue(
    type: StructType,
    depth: number,
    before: number,
    cost: Cost,
    modules: Set<ModuleInstance>,
  ): RuntimeLayout {
    const module = this.#world.moduleOf(type)
    modules.add(module)
    const struct = module.loaded.structs.get(type.name)!
    const { work, bytes } = this.#fieldCost(struct)
    this.#charge(cost, work, bytes)
    const typeLayout = this.#structLayout(type, struct)
    let nodes = before + 1
    const layOutAll = (fields: readonly TypeLayoutField[]) =>
      fields.map((field) => {
        const value = this.#part(field.type, depth + 1, nodes, cost, modules)
        nodes += value.nodes
        return value
      })
    if (typeLayout.kind === 'struct') return structLayout(layOutAll(typeLayout.fields))
    if (typeLayout.kind !== 'enum') throw malformedCode(`a value of the native type ${type.name}`)
    return enumLayout(typeLayout.variants.map(({ fields }) => layOutAll(fields)))
  }

  /** Cost of making the fields of an instance of a struct: types for each node of the fields' types. */
  #fieldCost(struct: LoadedStruct): FieldCost {
    const { fieldCosts } = this.#world.layouts
    const known = fieldCosts.get(struct)
    if (known) return known
    const fields = fieldsOf(struct.definition)
    const size = struct.module.types.sizeOfAll(fields.map(({ type }) => type))
    const cost = {
      work: TYPE_WORK * size + fields.length,
      bytes: (TYPE_BYTES + TYPE_PART_BYTES) * size + FIELD_BYTES * fields.length,
    }
    fieldCosts.set(struct, cost)
    return cost
  }

  /**
   * The parts of a type, with names and types.
   * @throws VmFault, LackingKeys, StaleWorld, TurnOver
   */
  typeLayout(type: Type): TypeLayout {
    switch (type.kind) {
      case 'vector':
        return { kind: 'vector', element: type.element }
      case 'function':
        return { kind: 'function' }
      case 'struct': {
        const module = this.#world.moduleOf(type)
        const struct = module.loaded.structs.get(type.name)!
        if (!this.#charged?.has(type)) {
          const { work, bytes } = this.#fieldCost(struct)
          this.#charged ??= new Set()
          this.#charged.add(type)
          this.#world.charge(work, bytes)
        }
        return this.#structLayout(type, struct)
      }
      default:
        return { kind: 'plain' }
    }
  }

  #structLayout(type: StructType, { definition, module }: LoadedStruct): TypeLayout {
    const { typeLayouts, unfinished } = this.#world.layouts
    const known = typeLayouts[type.id]
    if (known) return known
    const types = unfinished.get(type.id) ?? []
    unfinished.set(type.id, types)
    const fields = fieldsOf(definition)
    while (types.length < fields.length) {
      this.#meter.expectTurn()
      const open = module.types.of(fields[types.length]!.type)
      types.push(this.#world.types.instantiate(open, type.typeArguments))
      this.#meter.countWork(TYPE_WORK * open.size)
    }
    unfinished.delete(type.id)
    const layout = typeLayoutOf(definition, types)
    typeLayouts[type.id] = layout
    this.#world.recount(module)
    return layout
  }

  /**
   * Whether values of a type hold an `Option` of the framework.
   * @throws VmFault, LackingKeys, TurnOver
   */
  holdsOption(type: Type): boolean {
    // Computing the layout first makes sure that the number of parts is bounded.
    this.#meter.chargeInstructions(this.layoutOf(type).nodes)
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
   * @throws VmFault, LackingKeys, StaleWorld, TurnOver
   */
  expectShallow(type: Type): void {
    this.#depths ??= new TypeDepths(this.#world)
    this.#depths.expectShallow(type)
  }
}

/** The parts of a struct or an enum with fields of these types. */
function typeLayoutOf(definition: StructDefinition, types: readonly Type[]): TypeLayout {
  let next = 0
  const named = (fields: readonly FieldDefinition[]) => fields.map(({ name }) => ({ name, type: types[next++]! }))
  if (definition.kind === 'struct') return { kind: 'struct', fields: named(definition.fields) }
  if (definition.kind === 'native') return { kind: 'plain' }
  return { kind: 'enum', variants: definition.variants.map(({ name, fields }) => ({ name, fields: named(fields) })) }
}

function tooManyNodes(most: number): VmFault {
  const text = `Number of type nodes when constructing type layout exceeded the maximum of ${most}`
  return new VmFault(STATUS.TOO_MANY_TYPE_NODES, text)
}

function layoutTooDeep(): VmFault {
  const text = `Depth of a layout exceeded the maximum of ${MAX_VALUE_DEPTH} during construction`
  return new VmFault(STATUS.VM_MAX_VALUE_DEPTH_REACHED, text)
}
