import type { FunctionDefinition } from '@ledger-state/move-module'
import type { TypeTag } from '@ledger-state/type-tag'
import type { ComputeTask } from '../compute-task.js'
import type { Type } from '../types/type.js'
import type { ClosureValue, Reference, Value } from '../values/value.js'

/**
 * A native function. It gets its arguments in order and returns its results in order (none: an empty array).
 *
 * A native may be run again from its beginning: whatever it reads of the state (`globals`, `layout` and what needs one: `serialize`,
 * `deserialize`) or computes elsewhere (`compute`) may stop the run. It therefore changes nothing (references, `extension`,
 * `globals`) before the last such read.
 *
 * Arguments have the types of the declaration in the real framework. A hostile store may declare a native with other types:
 * natives need not check them, since a `TypeError` or `RangeError` of JavaScript ends the run with a fault, but they must not
 * loop or allocate without `charge`.
 */
export type Native = (context: NativeContext, args: readonly Value[]) => readonly Value[] | NativeJump

/** What `NativeContext.jump` gives: the native ends with a call of another function. */
export interface NativeJump {
  readonly kind: 'jump'
}

/** State of natives that lives as long as one run, such as a store of curve points. */
export interface NativeExtension<T> {
  readonly name: string
  /** Makes the state at its first use in a run. */
  create(): T
}

/** What a native sees of the run. */
export interface NativeContext {
  readonly typeArguments: readonly Type[]
  /** The chain id of the version. */
  readonly chainId: number
  /** Whether a feature flag is on at the version. */
  isFeatureOn(flag: number): boolean

  /** Counts work as a number of simple instructions (about 50 ns each). @throws the fault of an exhausted budget */
  charge(instructions: number): void
  /** Counts bytes copied, hashed, compared or serialised, and bytes of new values. @throws as `charge` */
  chargeBytes(bytes: number): void

  /** Ends the run with a Move abort in the native's module. */
  abort(code: number | bigint, message?: string): never
  /** Ends the run with another fault of the native's module: its status code and, where there is one, its text. */
  fault(status: number, message?: string, subStatus?: number): never

  /** The tag of a type, all of whose type parameters are known. */
  typeTag(type: Type): TypeTag
  /** The BCS of a value; undefined where it cannot be serialised (too deep). Charged. */
  serialize(type: Type, value: Value): Uint8Array | undefined
  /** Strict decoding of all bytes; undefined if they are not a value of the type. Charged. */
  deserialize(type: Type, bytes: Uint8Array): Value | undefined
  /** The order of two values of one type, or of what two references point at: below 0, 0, above 0. Charged. @throws where they are too deep */
  compare(a: Value, b: Value): number
  /** Types of the captured values of a closure, as its function declares them. @throws the fault of a missing function */
  capturedTypes(closure: ClosureValue): readonly Type[]
  /** The fields of a struct, or the variants of an enum, by the modules of the version, with type arguments substituted. */
  layout(type: Type): TypeLayout
  /** A type by its parts, as `type` knows them: for natives that make values of other types. */
  structType(address: string, module: string, name: string, typeArguments: readonly Type[]): Type

  readonly globals: Globals
  /** The state of an extension in this run, made at the first use. */
  extension<T>(extension: NativeExtension<T>): T
  /** Does a task, here or in a worker; the native may run again in between, and must then ask for the same tasks in the same order. */
  compute(task: ComputeTask): readonly Uint8Array[]

  /** The function that called the native. */
  readonly caller: FunctionName
  /** The callers of that one, the nearest first (0); undefined beyond the first function of the run. */
  callerAbove(index: number): FunctionName | undefined
  /**
   * Checks a function and calls it in place of the native, as `dispatchable_*` do: what it may not call is a fault. The native returns what this returns.
   */
  jump(target: FunctionName, args: readonly Value[]): NativeJump
  /** Loads a module and marks it as visited in this run. @throws the fault of a missing module */
  visitModule(address: string, module: string): void
  /** Whether this run has visited a module. */
  isModuleVisited(address: string, module: string): boolean
  /** A function of a module of the version; undefined where there is no such function or module. */
  findFunction(target: FunctionName): FunctionSignature | undefined
}

/** A function by its module and name. */
export interface FunctionName {
  /** 64 hex digits. */
  readonly address: string
  readonly module: string
  readonly name: string
}

/** What other functions see of one, with its own type parameters open. Equal texts are equal types, also between modules. */
export interface FunctionSignature {
  readonly definition: FunctionDefinition
  readonly isPublic: boolean
  readonly isNative: boolean
  readonly typeParameterAbilities: readonly number[]
  readonly parameters: readonly string[]
  readonly results: readonly string[]
}

/** What values of a type consist of. */
export type TypeLayout =
  | { readonly kind: 'plain' }
  | { readonly kind: 'vector'; readonly element: Type }
  | { readonly kind: 'struct'; readonly fields: readonly LayoutField[] }
  | { readonly kind: 'enum'; readonly variants: readonly LayoutVariant[] }
  | { readonly kind: 'function' }

/** A field of a struct or of a variant, with its type. */
export interface LayoutField {
  readonly name: string
  readonly type: Type
}

/** A variant of an enum, with its fields in order. */
export interface LayoutVariant {
  readonly name: string
  readonly fields: readonly LayoutField[]
}

/**
 * Resources and table items as this run sees them: read and decoded once, then changed in place. A reference shows and
 * makes changes. Changes are dropped at the end of the run. All methods may stop the run, before they change anything.
 */
export interface Globals {
  /** A resource, in a group or not; undefined where there is none. */
  borrowResource(address: string, type: Type): Reference | undefined
  /** An item of a table; `key` is its BCS. */
  borrowItem(handle: string, key: Uint8Array, type: Type): Reference | undefined
  /** Puts an item where none is; false where there is one. */
  addItem(handle: string, key: Uint8Array, type: Type, value: Value): boolean
  /** Takes an item out; undefined where there is none. */
  removeItem(handle: string, key: Uint8Array, type: Type): Value | undefined
  /** The bytes of an item as they are in the state, whatever this run did to it. */
  readItemBytes(handle: string, key: Uint8Array): Uint8Array | undefined
}
