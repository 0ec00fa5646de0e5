import type { Layout, LayoutField } from '@ledger-state/bcs'

// Bytes of heap, estimated from above with what V8 of Node 24 was seen to take.

/** A layout, a field or a variant with the closures that print and write its values: 450 to 590 bytes were measured. */
const NODE = 640
/** Copies of a name: in the layout and, as UTF-8 and as text, in the code that prints it. */
const COPIES_OF_NAME = 4

/** A codec whose both directions are compiled. A layout that stands in several places is compiled once. */
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
