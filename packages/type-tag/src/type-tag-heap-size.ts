import type { TypeTag } from './type-tag.js'

// Bytes of heap: upper estimates from measurements on the V8 of Node 24.

/** Heap of a struct with its address and names. The names may be slices of the parsed text. */
const STRUCT_TAG = 512
const VECTOR_TAG = 64
const TYPE_ARGUMENT = 16

/** Heap of a type tag. */
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
