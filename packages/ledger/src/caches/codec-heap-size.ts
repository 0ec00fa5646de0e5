import type { Layout, LayoutField } from '@ledger-state/bcs'

// Bytes of heap: upper estimates from measurements on the V8 of Node 24.

/**
 * Heap of a layout, field or variant with the closures that print and write its values; 450 to 750 bytes were measured.
 */
const NODE = 800
/** Copies of a name: one in the layout, and one as UTF-8 and others as text in the printing code. */
const COPIES_OF_NAME = 4

/** Heap of a codec once both directions are compiled. A layout that occurs in several places is compiled once. */
export function codecHeapSize(layout: Layout): number {
  const seen = new Set<Layout>()
  const open: Layout[] = []
  const visit = (part: Layout): void => {
    if (seen.has(part)) return
    seen.add(part)
    open.push(part)
  }
  const sizeOfFields = (fields: readonly LayoutField[]): number => {
    for (const field of fields) visit(field.layout)
    return fields.reduce((size, { name }) => size + NODE + COPIES_OF_NAME * name.length, 0)
  }
  const sizeWithoutParts = (part: Layout): number => {
    switch (part.kind) {
      case 'vector':
      case 'option':
        visit(part.element)
        return NODE
      case 'map':
        visit(part.key)
        visit(part.value)
        return NODE
      case 'struct':
        return NODE + sizeOfFields(part.fields)
      case 'enum':
        return part.variants.reduce(
          (size, { name, fields }) => size + NODE + COPIES_OF_NAME * name.length + sizeOfFields(fields),
          NODE,
        )
      default:
        return NODE
    }
  }
  visit(layout)
  let size = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) size += sizeWithoutParts(next)
  return size
}
