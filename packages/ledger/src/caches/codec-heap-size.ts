import type { Layout, LayoutField } from '@ledger-state/bcs'

// Bytes of heap, estimated from above with what V8 of Node 24 was seen to take.

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
