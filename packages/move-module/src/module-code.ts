import type { FunctionDefinition, ModuleId, MoveModule, SignatureToken, TypeParameter } from './module-definition.js'

/** Instructions of a function, in flat arrays of the same length: the index in them is the code offset. */
export interface Instructions {
  readonly opcodes: Uint8Array
  /**
   * Operand of each instruction: an index into a table, a local, an offset in code, or, if the operand is a number, its
   * index in `numbers`; else 0.
   */
  readonly operands: Int32Array
  /**
   * Second operand of each instruction: the count of `vec_pack` and `vec_unpack`; of `pack_closure`, the index of its
   * mask (a bigint) in `numbers`; else 0.
   */
  readonly seconds: Int32Array
  /** Numbers of instructions, as bigints if they are not safe integers; masks are always bigints. */
  readonly numbers: readonly (number | bigint)[]
}

/** Code of a function: instructions and locals. */
export interface FunctionCode extends Instructions {
  /** Types of the locals after the parameters. */
  readonly locals: readonly SignatureToken[]
}

/** A function of `ModuleCode.functions`: its signature with attributes and code. */
export interface CodedFunction extends FunctionDefinition {
  /**
   * Kinds of the attributes of binary version 8 and above: 1 persistent, 2 module lock, 3 and 4 pack a public struct.
   */
  readonly attributes: readonly number[]
  /** Indexes of the structs whose values in global storage the function borrows or moves, or those that it calls. */
  readonly acquires: readonly number[]
  /** Code of the function; absent if it is native. */
  readonly code?: FunctionCode | undefined
}

/** A function that code calls: one of this module or another. */
export interface FunctionHandle {
  readonly module: ModuleId
  readonly name: string
  readonly parameters: readonly SignatureToken[]
  readonly results: readonly SignatureToken[]
  /** Abilities that an argument of each type parameter must have. */
  readonly typeParameters: readonly number[]
  readonly attributes: readonly number[]
}

/** A struct that the module names, of this module or another. */
export interface StructHandle {
  readonly module: ModuleId
  readonly name: string
  readonly abilities: number
  readonly typeParameters: readonly TypeParameter[]
}

/** A generic function, struct or field with type arguments: its index in its table, and the types. */
export interface Instantiation {
  readonly of: number
  readonly typeArguments: readonly SignatureToken[]
}

/** A field of a struct: indexes of the definition and of the field. */
export interface FieldHandle {
  readonly struct: number
  readonly field: number
}

/** A field with the same place in several variants. */
export interface VariantFieldHandle extends FieldHandle {
  readonly variants: readonly number[]
}

/** A variant of an enum: indexes of the definition and of the variant. */
export interface VariantHandle {
  readonly struct: number
  readonly variant: number
}

/** A constant: its type and its BCS. */
export interface Constant {
  readonly type: SignatureToken
  readonly bytes: Uint8Array
}

/** Name and text that a module gives an abort code. */
export interface ErrorDescription {
  readonly name: string
  readonly text: string
}

/** Everything of a module that is needed to run it. Indexes in tables are checked; those in code are not. */
export interface ModuleCode extends MoveModule {
  /** The module itself: one of `moduleHandles`. */
  readonly self: ModuleId
  readonly identifiers: readonly string[]
  readonly addresses: readonly Uint8Array[]
  readonly moduleHandles: readonly ModuleId[]
  readonly friends: readonly ModuleId[]
  readonly functions: readonly CodedFunction[]
  readonly structHandles: readonly StructHandle[]
  readonly functionHandles: readonly FunctionHandle[]
  readonly functionInstantiations: readonly Instantiation[]
  readonly signatures: readonly (readonly SignatureToken[])[]
  readonly constants: readonly Constant[]
  readonly structInstantiations: readonly Instantiation[]
  readonly fieldHandles: readonly FieldHandle[]
  readonly fieldInstantiations: readonly Instantiation[]
  readonly variantFieldHandles: readonly VariantFieldHandle[]
  readonly variantFieldInstantiations: readonly Instantiation[]
  readonly variantHandles: readonly VariantHandle[]
  readonly variantInstantiations: readonly Instantiation[]
  /** Names of functions with the mark of a view, whatever the version of the binary. */
  readonly views: ReadonlySet<string>
  /** Errors by abort code. */
  readonly errors: ReadonlyMap<bigint, ErrorDescription>
  /** Number of types in signatures, fields and constants, those within types included. */
  readonly tokenCount: number
}
