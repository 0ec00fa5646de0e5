import type { PrimitiveType } from '@ledger-state/type-tag'

/** Heap bytes of a type with its key and entry, and for each part that it names; measured on Node 24 (260 with 2 parts, 640 with 8). */
export const TYPE_BYTES = 320
export const TYPE_PART_BYTES = 64
/** Instructions that making a type takes. */
export const TYPE_WORK = 4

/** Members of all types. Within one run, equal types are one object, so that `===` compares them. */
interface TypeNode {
  /** Number that is unique in the run. */
  readonly id: number
  /** Number of types in it, itself included. */
  readonly size: number
  /** Number of its levels; 1 for a type without parts. */
  readonly depth: number
  /** Characters of the names in it. */
  readonly nameLength: number
}

/** A type without parts. */
export interface PlainType extends TypeNode {
  readonly kind: PrimitiveType
}

/** The type `vector<element>`. */
export interface VectorType extends TypeNode {
  readonly kind: 'vector'
  readonly element: Type
}

/** A struct or enum with its type arguments. */
export interface StructType extends TypeNode {
  readonly kind: 'struct'
  /** 64 hex digits. */
  readonly address: string
  readonly module: string
  readonly name: string
  readonly typeArguments: readonly Type[]
}

/** The type `&to` or `&mut to`. */
export interface ReferenceType extends TypeNode {
  readonly kind: 'reference'
  readonly mutable: boolean
  readonly to: Type
}

/** The type of a function value. */
export interface FunctionType extends TypeNode {
  readonly kind: 'function'
  readonly parameters: readonly Type[]
  readonly results: readonly Type[]
  readonly abilities: number
}

/** A type without open type parameters. */
export type Type = PlainType | VectorType | StructType | ReferenceType | FunctionType
