import { typeTooLarge } from '../errors.js'
import { type Layout, type LayoutField, MAX_LAYOUT_DEPTH } from './layout.js'

/** Layouts directly inside a layout, one for each place. */
export function layoutParts(layout: Layout): readonly Layout[] {
  switch (layout.kind) {
    case 'vector':
    case 'option':
      return [layout.element]
    case 'map':
      return [layout.key, layout.value]
    case 'struct':
      return layout.fields.map(partOfField)
    case 'enum':
      return layout.variants.flatMap(({ fields }) => fields.map(partOfField))
    default:
      return []
  }
}

function partOfField(field: LayoutField): Layout {
  return field.layout
}

/**
 * Number of nodes that a layout holds in memory: one for each layout, field and variant in it. A layout used in several
 * places counts once. A layout takes about 100 bytes of heap for a node; its codec takes about 250 more once it has
 * printed a value, and about 150 more once it has read one from JSON.
 */
export function layoutSize(layout: Layout): number {
  const seen = new Set<Layout>()
  const open = [layout]
  let size = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const parts = layoutParts(next)
    size += 1 + ownNodes(next)
    for (const part of parts) {
      if (seen.has(part)) continue
      seen.add(part)
      open.push(part)
    }
  }
  return size
}

function ownNodes(layout: Layout): number {
  if (layout.kind === 'struct') return layout.fields.length
  if (layout.kind !== 'enum') return 0
  return layout.variants.reduce((sum, { fields }) => sum + 1 + fields.length, 0)
}

/**
 * Number of levels of layouts inside a layout, plus the levels `around` it, which count in the limit.
 * @throws `type_too_large` if they are more than `MAX_LAYOUT_DEPTH`
 */
export function layoutDepth(layout: Layout, around = 0): number {
  const depths = new Map<Layout, number>()
  const depthOf = (part: Layout, level: number): number => {
    expectLayoutDepth(level)
    const known = depths.get(part)
    if (known !== undefined) return known
    let depth = 0
    for (const inner of layoutParts(part)) depth = Math.max(depth, 1 + depthOf(inner, level + 1))
    depths.set(part, depth)
    return depth
  }
  const depth = around + depthOf(layout, around)
  // A shared part may be nested deeper here than where it was measured.
  expectLayoutDepth(depth)
  return depth
}

/** Properties of a layout that codecs need. */
export interface LayoutTraits {
  /** Number of levels of layouts inside the layout. */
  readonly depth: number
  /** Kind of the first part whose values cannot be read from JSON. */
  readonly unwritable: UnwritableKind | undefined
}

/** Kinds of layouts whose values can be printed as JSON but not read from it. */
export type UnwritableKind = 'signer' | 'function' | 'map'

/** Measures the traits of a layout. @throws `type_too_large` for more levels than `MAX_LAYOUT_DEPTH` */
export function layoutTraits(layout: Layout): LayoutTraits {
  const depth = layoutDepth(layout)
  const seen = new Set<Layout>()
  const findUnwritable = (part: Layout): UnwritableKind | undefined => {
    if (seen.has(part)) return undefined
    seen.add(part)
    if (part.kind === 'signer' || part.kind === 'function' || part.kind === 'map') return part.kind
    for (const inner of layoutParts(part)) {
      const found = findUnwritable(inner)
      if (found !== undefined) return found
    }
    return undefined
  }
  return { depth, unwritable: findUnwritable(layout) }
}

/** Checks a depth. @throws `type_too_large` for more levels than `MAX_LAYOUT_DEPTH` */
export function expectLayoutDepth(depth: number): void {
  if (depth > MAX_LAYOUT_DEPTH) throw typeTooLarge.typeTooDeep(MAX_LAYOUT_DEPTH)
}
