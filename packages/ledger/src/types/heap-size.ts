import type { Layout, LayoutField } from '@ledger-state/bcs'
import type { FieldDefinition, MoveModule, SignatureToken } from '@ledger-state/move-module'
import type { TypeTag } from '@ledger-state/type-tag'

// Bytes of heap that values take, estimated from above with what V8 of Node 24 was seen to take.

/** A struct with its address and names; the names may be slices of the text that was parsed. */
const STRUCT_TAG = 512
const VECTOR_TAG = 64
const TYPE_ARGUMENT = 16

export function typeTagHeapSize(tag: TypeTag): number {
  switch (tag.kind) {
    case 'vector':
      return VECTOR_TAG + typeTagHeapSize(tag.element)
    case 'struct':
      return tag.typeArguments.reduce((size, argument) => size + TYPE_ARGUMENT + typeTagHeapSize(argument), STRUCT_TAG)
    case 'function':
      return [...tag.parameters, ...tag.results].reduce((size, slot) => size + typeTagHeapSize(slot.type), STRUCT_TAG)
    default:
      return 0
  }
}

/** A node of a layout with the closures that print and write its values: 560 to 780 bytes were measured. */
const LAYOUT_NODE = 1_024
/** Copies of the name of a field: in the layout and, as UTF-8 and as text, in the code that prints it. */
const COPIES_OF_NAME = 4

/**
 * A codec whose both directions are compiled. Parts that several places of a layout share count once for each place:
 * each is compiled by itself.
 */
export function codecHeapSize(layout: Layout): number {
  const sizes = new Map<Layout, number>()
  const sizeOf = (part: Layout): number => {
    let size = sizes.get(part)
    if (size === undefined) {
      size = LAYOUT_NODE + sizeOfParts(part)
      sizes.set(part, size)
    }
    return size
  }
  const sizeOfFields = (fields: readonly LayoutField[]): number =>
    fields.reduce((size, { name, layout: part }) => size + COPIES_OF_NAME * name.length + sizeOf(part), 0)
  const sizeOfParts = (part: Layout): number => {
    switch (part.kind) {
      case 'vector':
      case 'option':
        return sizeOf(part.element)
      case 'map':
        return sizeOf(part.key) + sizeOf(part.value)
      case 'struct':
        return sizeOfFields(part.fields)
      case 'enum':
        return part.variants.reduce(
          (size, { name, fields }) => size + LAYOUT_NODE + COPIES_OF_NAME * name.length + sizeOfFields(fields),
          0,
        )
      default:
        return 0
    }
  }
  return sizeOf(layout)
}

const MODULE = 512
/** A struct, a variant or a field, with its name. */
const DEFINITION = 256
/** A struct in a signature, with the identifier of its module. */
const STRUCT_TOKEN = 256
const TOKEN = 64

/** A module as `readModule` gives it: its names, which definitions share, are no longer than its binary. */
export function moduleHeapSize(module: MoveModule, binary: Uint8Array): number {
  let size = MODULE + binary.length
  for (const definition of module.structs) {
    size += DEFINITION + TOKEN * definition.typeParameters.length
    if (definition.resourceGroup) size += typeTagHeapSize(definition.resourceGroup)
    if (definition.kind === 'struct') size += fieldsHeapSize(definition.fields)
    if (definition.kind !== 'enum') continue
    for (const variant of definition.variants) size += DEFINITION + fieldsHeapSize(variant.fields)
  }
  return size
}

function fieldsHeapSize(fields: readonly FieldDefinition[]): number {
  return fields.reduce((size, { type }) => size + DEFINITION + tokenHeapSize(type), 0)
}

function tokenHeapSize(token: SignatureToken): number {
  const sum = (tokens: readonly SignatureToken[], own: number) =>
    tokens.reduce((size, part) => size + tokenHeapSize(part), own)
  switch (token.kind) {
    case 'vector':
      return TOKEN + tokenHeapSize(token.element)
    case 'struct':
      return sum(token.typeArguments, STRUCT_TOKEN)
    case 'reference':
      return TOKEN + tokenHeapSize(token.to)
    case 'function':
      return sum([...token.parameters, ...token.results], STRUCT_TOKEN)
    default:
      return TOKEN
  }
}
