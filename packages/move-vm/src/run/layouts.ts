import type { FieldDefinition } from '@ledger-state/move-module'
import { STATUS } from '../faults/status.js'
import { malformedCode, VmFault } from '../faults/vm-fault.js'
import type { LoadedStruct } from '../load/loaded-module.js'
import type { TypeLayout } from '../natives/native.js'
import { integerTypeOf } from '../types/integer-type.js'
import {
  BYTES_LAYOUT,
  enumLayout,
  LAYOUT,
  type Layout,
  plainLayout,
  structLayout,
  vectorLayout,
} from '../types/layout.js'
import type { StructType, Type } from '../types/type.js'
import { MAX_VALUE_DEPTH } from '../values/copy-value.js'
import type { World } from './world.js'

/** Of gas feature version 34 and above, and of older ones. */
export const MAX_LAYOUT_NODES = { since34: 512, before: 256 } as const

const FRAMEWORK = '1'.padStart(64, '0')

/** Layouts of the types of a run, by the modules of the version. */
export class Layouts {
  readonly #world: World
  readonly #maxNodes: number
  readonly #layouts: (Layout | undefined)[] = []
  readonly #typeLayouts: (TypeLayout | undefined)[] = []
  readonly #depths: (number | undefined)[] = []

  constructor(world: World, maxNodes: number) {
    this.#world = world
    this.#maxNodes = maxNodes
  }

  /** @throws VmFault: too large or deep, or a struct that is not there; LackingKeys */
  layoutOf(type: Type): Layout {
    const known = this.#layouts[type.id]
    return known ?? this.#layOut(type, 1, 0)
  }

  /** `before` counts the nodes of the whole layout so far. */
  #layOut(type: Type, depth: number, before: number): Layout {
    const layout = this.#layouts[type.id] ?? this.#makeLayout(type, depth, before)
    if (before + layout.nodes > this.#maxNodes) throw tooManyNodes(this.#maxNodes)
    if (depth + layout.depth - 1 > MAX_VALUE_DEPTH) throw layoutTooDeep()
    this.#layouts[type.id] = layout
    return layout
  }

  #makeLayout(type: Type, depth: number, before: number): Layout {
    if (depth > MAX_VALUE_DEPTH) throw layoutTooDeep()
    switch (type.kind) {
      case 'vector':
        if (type.element.kind === 'u8') return BYTES_LAYOUT
        return vectorLayout(this.#layOut(type.element, depth + 1, before + 1))
      case 'struct': {
        const typeLayout = this.typeLayout(type)
        let nodes = before + 1
        const fieldsOf = (fields: readonly { readonly type: Type }[]) =>
          fields.map((field) => {
            const layout = this.#layOut(field.type, depth + 1, nodes)
            nodes += layout.nodes
            return layout
          })
        if (typeLayout.kind === 'struct') return structLayout(fieldsOf(typeLayout.fields))
        if (typeLayout.kind === 'enum') return enumLayout(typeLayout.variants.map(({ fields }) => fieldsOf(fields)))
        throw malformedCode(`a value of the native type ${type.name}`)
      }
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

  /** The parts of a type, with names and types. @throws VmFault, LackingKeys */
  typeLayout(type: Type): TypeLayout {
    switch (type.kind) {
      case 'vector':
        return { kind: 'vector', element: type.element }
      case 'function':
        return { kind: 'function' }
      case 'struct': {
        const known = this.#typeLayouts[type.id]
        if (known) return known
        const layout = this.#structLayout(type)
        this.#typeLayouts[type.id] = layout
        return layout
      }
      default:
        return { kind: 'plain' }
    }
  }

  #structLayout(type: StructType): TypeLayout {
    const struct = this.#world.structOf(type)
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

  /** Whether an `Option` of the framework is in values of a type. @throws VmFault, LackingKeys */
  holdsOption(type: Type): boolean {
    // The layout is finite; so are the parts that are looked at.
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

  /** Checks that values of a type are not too deep. @throws VmFault, LackingKeys */
  expectShallow(type: Type): void {
    if (this.#depthOf(type, 1) > MAX_VALUE_DEPTH) throw new VmFault(STATUS.VM_MAX_VALUE_DEPTH_REACHED)
  }

  /** Levels of values of a type; `above` counts those that it stands under. */
  #depthOf(type: Type, above: number): number {
    const known = this.#depths[type.id]
    if (known !== undefined) return known
    if (above > MAX_VALUE_DEPTH) throw new VmFault(STATUS.VM_MAX_VALUE_DEPTH_REACHED)
    const depth = 1 + this.#partsDepth(type, above + 1)
    this.#depths[type.id] = depth
    return depth
  }

  #partsDepth(type: Type, above: number): number {
    const layout = this.typeLayout(type)
    switch (layout.kind) {
      case 'vector':
        return this.#depthOf(layout.element, above)
      case 'struct':
        return this.#deepest(layout.fields, above)
      case 'enum':
        return layout.variants.reduce((deepest, { fields }) => Math.max(deepest, this.#deepest(fields, above)), 0)
      default:
        return 0
    }
  }

  #deepest(fields: readonly { readonly type: Type }[], above: number): number {
    let deepest = 0
    for (const { type } of fields) deepest = Math.max(deepest, this.#depthOf(type, above))
    return deepest
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
