import type { CodedFunction } from '@ledger-state/move-module'
import type { CompiledFunction } from '../load/compile-function.js'
import type { LoadedFunction, LoadedModule } from '../load/loaded-module.js'
import type { ModuleName } from '../load/open-type.js'
import type { Native } from '../natives/native.js'
import type { Type } from '../types/type.js'

/** A module as runs use it, with what was linked to it. */
export class ModuleInstance {
  readonly loaded: LoadedModule
  readonly name: ModuleName
  /** Its state key. */
  readonly key: Uint8Array
  /** The last run that has seen that the module stands in its state as it is here. */
  run = 0
  /** The last state, by the world's count of them, that was seen to have the module as it is here. */
  stateNumber = 0
  /** Functions without type parameters, by index of the definition. */
  readonly functions: (FunctionInstance | undefined)[] = []
  /** Functions by index of the definition and ids of the type arguments. */
  readonly genericFunctions = new Map<string, FunctionInstance>()
  /** Types without type parameters, by their ids in the module. */
  readonly types: (Type | undefined)[] = []
  /** Entries that are active: see `Reentrancy`. */
  entries = 0

  constructor(loaded: LoadedModule, key: Uint8Array) {
    this.loaded = loaded
    this.name = loaded.name
    this.key = key
  }
}

/** A function with its type arguments. */
export class FunctionInstance {
  readonly module: ModuleInstance
  readonly loaded: LoadedFunction
  readonly definition: CodedFunction
  readonly typeArguments: readonly Type[]
  /** The last run that has called it, and seen that its module stands in its state. */
  run = 0
  /** What the instructions name, by the links of the code; resolved at the first use. */
  readonly links: unknown[] = []
  /** The last run, by link, that has seen that values of the type are not too deep. */
  readonly checked: number[] = []
  readonly parameterCount: number
  /** Undefined until the first call, and in a native function. */
  code: CompiledFunction | undefined = undefined
  /** Undefined where the vm has no such native. */
  readonly native: Native | undefined

  constructor(
    module: ModuleInstance,
    loaded: LoadedFunction,
    typeArguments: readonly Type[],
    native: Native | undefined,
  ) {
    this.module = module
    this.loaded = loaded
    this.definition = loaded.definition
    this.typeArguments = typeArguments
    this.parameterCount = loaded.definition.parameters.length
    this.native = native
  }
}
