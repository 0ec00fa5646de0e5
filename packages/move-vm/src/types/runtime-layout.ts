/**
 * Kinds of layouts. A kind below `bool` is an integer type, by its number in `INTEGER_TYPES`. Values of the kinds up to
 * `address` have no parts.
 */
export const LAYOUT = {
  bool: 12,
  address: 13,
  signer: 14,
  bytes: 15,
  vector: 16,
  struct: 17,
  enum: 18,
  function: 19,
} as const

/** Facts about a struct whose values all have the same length in BCS: a field can be read without those before it. */
export interface FixedForm {
  /** Length of the BCS, in bytes. */
  readonly size: number
  /** Offsets of the fields. */
  readonly offsets: readonly number[]
  /** Undefined until a stored value is of this very type: structs within structs have no lists of their own. */
  whole: WholeForm | undefined
}

/** Facts about a whole value of a fixed length, with all structs within it. */
export interface WholeForm {
  /** Heap bytes of a value, without those of its integers that are bigints. */
  readonly heapBytes: number
  /** Offsets of the bytes that have to be 0 or 1. */
  readonly bools: readonly number[]
  /** Offsets and types of the integers that may be bigints. */
  readonly wide: readonly { readonly at: number; readonly type: number }[]
}

/** The way in which values of a type are written in BCS: the type with all structs resolved and without names. */
export interface RuntimeLayout {
  /** A number of `LAYOUT`, or the number of an integer type. */
  readonly kind: number
  /** Number of nodes of the layout, as a tree. */
  readonly nodes: number
  /** Number of levels; 1 for a layout without parts. */
  readonly depth: number
  /** RuntimeLayout of the elements of a vector, or layouts of the fields of a struct. */
  readonly parts: readonly RuntimeLayout[]
  /** Fields of each variant of an enum. */
  readonly variants: readonly (readonly RuntimeLayout[])[]
  /** The form of a struct of a fixed length; null for other layouts, undefined until a decoder asks for it. */
  fixed: FixedForm | null | undefined
}

const NONE: readonly never[] = []

export function plainLayout(kind: number): RuntimeLayout {
  return { kind, nodes: 1, depth: 1, parts: NONE, variants: NONE, fixed: null }
}

export const BYTES_LAYOUT: RuntimeLayout = {
  kind: LAYOUT.bytes,
  nodes: 2,
  depth: 2,
  parts: NONE,
  variants: NONE,
  fixed: null,
}

export function vectorLayout(element: RuntimeLayout): RuntimeLayout {
  return {
    kind: LAYOUT.vector,
    nodes: 1 + element.nodes,
    depth: 1 + element.depth,
    parts: [element],
    variants: NONE,
    fixed: null,
  }
}

export function structLayout(fields: readonly RuntimeLayout[]): RuntimeLayout {
  const { nodes, depth } = totalOf(fields)
  return { kind: LAYOUT.struct, nodes: 1 + nodes, depth: 1 + depth, parts: fields, variants: NONE, fixed: undefined }
}

export function enumLayout(variants: readonly (readonly RuntimeLayout[])[]): RuntimeLayout {
  const { nodes, depth } = totalOf(variants.flat())
  return { kind: LAYOUT.enum, nodes: 1 + nodes, depth: 1 + depth, parts: NONE, variants, fixed: null }
}

function totalOf(layouts: readonly RuntimeLayout[]): { nodes: number; depth: number } {
  let nodes = 0
  let depth = 0
  for (const layout of layouts) {
    nodes += layout.nodes
    depth = Math.max(depth, layout.depth)
  }
  return { nodes, depth }
}
