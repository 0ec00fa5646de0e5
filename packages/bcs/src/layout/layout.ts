import { FIXED_LENGTHS, INTEGER_TYPES, type PrimitiveType } from '@ledger-state/type-tag'

/** A field of a struct or variant: its name in JSON, and its layout. */
export interface LayoutField {
  readonly name: string
  readonly layout: Layout
}

/** A variant of an enum: its name, and its fields in their order. */
export interface LayoutVariant {
  readonly name: string
  readonly fields: readonly LayoutField[]
}

/**
 * Describes how the bytes of a type are laid out and printed. Layouts are data: JSON-serializable, immutable, and
 * finite, since Move types cannot contain themselves. Fields and variants are in the order of declaration.
 */
export type Layout =
  | { readonly kind: PrimitiveType }
  /** The type `0x1::string::String`: bytes that print as text. */
  | { readonly kind: 'string' }
  /** A vector of `u8` prints as hex. */
  | { readonly kind: 'vector'; readonly element: Layout }
  /**
   * The type `0x1::option::Option`, which prints as `{"vec":[…]}`. Its bytes never changed, but while it was a struct
   * over a vector, an `Option<u8>` printed its list as hex.
   */
  | { readonly kind: 'option'; readonly declaredAs: 'struct' | 'enum'; readonly element: Layout }
  /** The type `0x1::object::Object`: an address that prints as `{"inner":"0x…"}`. */
  | { readonly kind: 'object' }
  | { readonly kind: 'struct'; readonly name: string; readonly fields: readonly LayoutField[] }
  | { readonly kind: 'enum'; readonly name: string; readonly variants: readonly LayoutVariant[] }
  /** A map of BCS itself, as in resource groups: entries in ascending order of the bytes of their keys. */
  | { readonly kind: 'map'; readonly key: Layout; readonly value: Layout }
  /** A function value. Keys cannot hold one. */
  | { readonly kind: 'function' }

/** Number of bytes of each integer type. Signed types are two's complement. */
export const INTEGER_WIDTH: Readonly<Record<string, { readonly bytes: number; readonly signed: boolean }>> =
  Object.fromEntries(INTEGER_TYPES.map((kind) => [kind, { bytes: FIXED_LENGTHS[kind]!, signed: kind.startsWith('i') }]))

/**
 * Most levels of layouts inside a layout. Chains nest values no deeper, and `parseJson` has the same limit. It keeps
 * recursion over layouts far from the end of the stack.
 */
export const MAX_LAYOUT_DEPTH = 128
