import type { PrimitiveType, StructTag } from '@ledger-state/type-tag'

/** Bits of the abilities. */
export const ABILITY = { copy: 1, drop: 2, store: 4, key: 8 } as const

/** Address and name of a module. */
export interface ModuleId {
  /** Address, 32 bytes. */
  readonly address: Uint8Array
  readonly name: string
}

/** A type as a module writes it, with its own type parameters open. */
export type SignatureToken =
  | { readonly kind: PrimitiveType }
  | { readonly kind: 'vector'; readonly element: SignatureToken }
  | {
      readonly kind: 'struct'
      readonly module: ModuleId
      readonly name: string
      readonly typeArguments: readonly SignatureToken[]
    }
  | { readonly kind: 'typeParameter'; readonly index: number }
  | { readonly kind: 'reference'; readonly mutable: boolean; readonly to: SignatureToken }
  | {
      readonly kind: 'function'
      readonly abilities: number
      readonly parameters: readonly SignatureToken[]
      readonly results: readonly SignatureToken[]
    }

/** A field of a struct or variant. */
export interface FieldDefinition {
  readonly name: string
  readonly type: SignatureToken
}

/** A variant of an enum. */
export interface VariantDefinition {
  readonly name: string
  readonly fields: readonly FieldDefinition[]
}

/** A type parameter of a struct or enum. */
export interface TypeParameter {
  /** Abilities that an argument must have. */
  readonly constraints: number
  readonly phantom: boolean
}

interface TypeDefinition {
  readonly name: string
  /** Resource group that stores this resource among others, from the metadata of the module. */
  readonly resourceGroup?: StructTag | undefined
  readonly abilities: number
  readonly typeParameters: readonly TypeParameter[]
}

/** A type that a module defines: a struct, an enum, or a native type without visible fields. */
export type StructDefinition =
  | (TypeDefinition & { readonly kind: 'struct'; readonly fields: readonly FieldDefinition[] })
  | (TypeDefinition & { readonly kind: 'enum'; readonly variants: readonly VariantDefinition[] })
  | (TypeDefinition & { readonly kind: 'native' })

/** The types that a module defines. */
export interface MoveModule extends ModuleId {
  /** Version of the binary format, 5 to 10. */
  readonly version: number
  /** Structs in the order of the binary. */
  readonly structs: readonly StructDefinition[]
}

/** Which code may call a function. */
export type Visibility = 'private' | 'public' | 'friend'

/** The signature of a function. */
export interface FunctionDefinition {
  readonly name: string
  readonly visibility: Visibility
  readonly isEntry: boolean
  readonly isNative: boolean
  /** Abilities that an argument of each type parameter must have. */
  readonly typeParameters: readonly number[]
  readonly parameters: readonly SignatureToken[]
  readonly results: readonly SignatureToken[]
}

/** The signature of the only function of a script, which has no results. */
export type ScriptInterface = Pick<FunctionDefinition, 'typeParameters' | 'parameters'>

/** The part of a module that other modules and clients see. */
export interface ModuleInterface extends MoveModule {
  /** Friends in the order of the binary. */
  readonly friends: readonly ModuleId[]
  /** Functions that the module defines, private ones included, in the order of the binary. */
  readonly functions: readonly FunctionDefinition[]
  /** Names of the functions that are views, and of the structs that are events, from the metadata. */
  readonly views: ReadonlySet<string>
  readonly events: ReadonlySet<string>
}
