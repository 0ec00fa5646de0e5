import type { TypeTag } from '@ledger-state/type-tag'
import type { ComputeTask } from '../compute-task.js'
import type { OpenType } from '../load/open-type.js'
import type { SlicedWork } from '../sliced-work.js'
import type { Type } from '../types/type.js'
import type { ClosureValue, Reference, Value } from '../values/value.js'

/**
 * A native function. It gets its arguments in order and returns its results in order (none: an empty array).
 *
 * A native may be run again from its beginning: whatever it reads of the state (`globals`, `layout`, `abilities`, and
 * `serialize` and `deserialize`, which need a layout), computes elsewhere (`compute`) or does in slices (`inSlices`, `compare`) may
 * stop the run. It therefore changes nothing (references, `extension`, `globals`) before the last such read.
 *
 * A declaration with another signature is refused (`native-signatures.ts`), but a hostile store may define the structs of
 * a signature with other fields. Natives need not check them, since a `TypeError` or `RangeError` of JavaScript ends the
 * run with a fault, but they must not loop or allocate without `charge`.
 */
export type Native = (context: NativeContext, args: readonly Value[]) => readonly Value[] | NativeJump

/** Result of `NativeContext.jump`: the native ends by calling another function. */
export interface NativeJump {
  readonly kind: 'jump'
}

/** Whether a native ended by calling another function. */
export function isJump(answer: readonly Value[] | NativeJump): answer is NativeJump {
  return !Array.isArray(answer)
}

/** State of natives that lives as long as one run, such as a store of curve points. */
export interface NativeExtension<T> {
  readonly name: string
  /** Makes the state at its first use in a run. */
  create(): T
  /** Whether later runs get the same state. Then it must not change the results or the usage of any run. */
  readonly outlivesRun?: boolean
}

/** The part of a run that a native can see and use. */
export interface NativeContext {
  readonly typeArguments: readonly Type[]
  /** The chain id of the version. */
  readonly chainId: number
  /** Whether a feature flag is on at the version. */
  isFeatureOn(flag: number): boolean

  /**
   * Counts work as a number of simple instructions (about 50 ns each).
   * @throws the fault of an exhausted budget
   */
  charge(instructions: number): void
  /**
   * Counts bytes copied, hashed, compared or serialised, and bytes of new values.
   * @throws as `charge`
   */
  chargeBytes(bytes: number): void
  /**
   * Counts work with a result that the native keeps in an extension: a run does it once, even if the native runs again.
   * @throws as `charge`
   */
  chargeOnce(instructions: number): void

  /** Ends the run with a Move abort in the native's module. */
  abort(code: number | bigint, message?: string): never
  /** Ends the run with another fault of the native's module, by its status code and, if there is one, its text. */
  fault(status: number, message?: string, subStatus?: number): never

  /** The tag of a type, which must have no open type parameters. */
  typeTag(type: Type): TypeTag
  /**
   * The BCS of a value; undefined if it cannot be serialised: it is too deep, or has a function value that cannot be
   * stored. The work is charged.
   */
  serialize(type: Type, value: Value): Uint8Array | undefined
  /** Decodes all bytes strictly; undefined if they are not a value of the type. The work is charged. */
  deserialize(type: Type, bytes: Uint8Array): Value | undefined
  /**
   * Compares two values of one type, or the targets of two references: below 0, 0, or above 0. The work is charged.
   * @throws if they are too deep
   */
  compare(a: Value, b: Value): number
  /**
   * The types of the captured values of a closure, as its function declares them.
   * @throws the fault of a missing function
   */
  capturedTypes(closure: ClosureValue): readonly Type[]
  /**
   * The fields of a struct, or the variants of an enum, as the modules of the version define them, with type arguments
   * put in.
   */
  layout(type: Type): TypeLayout
  /**
   * The abilities of a type, as bits of `ABILITY` of move-module. The work is charged.
   * @throws the fault of a missing struct
   */
  abilities(type: Type): number
  /** A type by its parts, for natives that make values of types other than their arguments. */
  structType(address: string, module: string, name: string, typeArguments: readonly Type[]): Type

  readonly globals: Globals
  /** The state of an extension in this run, made at the first use. */
  extension<T>(extension: NativeExtension<T>): T
  /** Whether tasks are done in a worker. */
  readonly computesElsewhere: boolean
  /**
   * Does a task, here or in a worker. The native may then run again from its beginning, and must ask for the same tasks
   * in the same order.
   */
  compute(task: ComputeTask): readonly Uint8Array[]

  /**
   * Does work in slices, between which the turn may end. The native may then run again from its beginning, and must ask
   * for the same works in the same order.
   */
  inSlices<T>(begin: () => SlicedWork<T>): T

  /** The function that called the native. */
  readonly caller: FunctionName
  /** The callers of `caller`, the nearest first (0); undefined beyond the first function of the run. */
  callerAbove(index: number): FunctionName | undefined
  /**
   * Calls a function instead of the native, as `dispatchable_*` do; the native returns that function's results. A
   * function that must not be called is a fault.
   */
  jump(target: FunctionName, args: readonly Value[]): NativeJump
  /**
   * Loads a module and marks it as visited in this run.
   * @throws the fault of a missing module
   */
  visitModule(address: string, module: string): void
  /** Whether this run has visited a module. */
  isModuleVisited(address: string, module: string): boolean
  /** A function of a module of the version; undefined if there is no such function or module. The work is charged. */
  findFunction(target: FunctionName): FunctionSignature | undefined
  /** Whether two lists of types of signatures are the same, even between modules. The work is charged. */
  areSame(left: readonly OpenType[], right: readonly OpenType[]): boolean
}

/** A function by its module and name. */
export interface FunctionName {
  /** 64 hex digits. */
  readonly address: string
  readonly module: string
  readonly name: string
}

/** Signature of a function as other functions see it, with its type parameters open. */
export interface FunctionSignature {
  readonly isPublic: boolean
  readonly isNative: boolean
  readonly typeParameterAbilities: readonly number[]
  readonly parameters: readonly OpenType[]
  readonly results: readonly OpenType[]
}

/** Parts of the values of a type. */
export type TypeLayout =
  | { readonly kind: 'plain' }
  | { readonly kind: 'vector'; readonly element: Type }
  | { readonly kind: 'struct'; readonly fields: readonly TypeLayoutField[] }
  | { readonly kind: 'enum'; readonly variants: readonly TypeLayoutVariant[] }
  | { readonly kind: 'function' }

/** A field of a struct or of a variant, with its type. */
export interface TypeLayoutField {
  readonly name: string
  readonly type: Type
}

/** A variant of an enum, with its fields in order. */
export interface TypeLayoutVariant {
  readonly name: string
  readonly fields: readonly TypeLayoutField[]
}

/**
 * Resources and table items as this run sees them: read and decoded once, then changed in place. A reference shows and
 * makes changes. Changes are dropped at the end of the run. All methods may stop the run, before they change anything.
 */
export interface Globals {
  /** Borrows a resource, in a group or not; undefined if there is none. */
  borrowResource(address: string, type: Type): Reference | undefined
  /** Borrows an item of a table; `key` is its BCS. Undefined if there is none. */
  borrowItem(handle: string, key: Uint8Array, type: Type): Reference | undefined
  /** Adds an item; false if there already is one. */
  addItem(handle: string, key: Uint8Array, type: Type, value: Value): boolean
  /** Takes an item out; undefined if there is none. */
  removeItem(handle: string, key: Uint8Array, type: Type): Value | undefined
  /** The bytes of an item as they are in the state, without changes of this run. */
  readItemBytes(handle: string, key: Uint8Array): Uint8Array | undefined
}
