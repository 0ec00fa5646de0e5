import { hexToBytes } from '@ledger-state/core'
import type { CodedFunction, FunctionHandle } from '@ledger-state/move-module'
import type { CompiledFunction } from '../load/compile-function.js'
import type { LoadedFunction, LoadedModule } from '../load/loaded-module.js'
import type { ModuleName } from '../load/open-type.js'
import type { Native } from '../natives/native.js'
import { PartedMap } from '../parted-map.js'
import type { Type } from '../types/type.js'
import type { NamedKey } from './state-access.js'

/** A function that a handle names. */
export interface LinkedFunction {
  readonly module: ModuleInstance
  readonly loaded: LoadedFunction
}

/** Types of the parameters or the results of a function, and their charges. */
export interface SignatureTypes {
  readonly types: readonly Type[]
  /** Number of types in the tokens of the signature. */
  readonly tokenCount: number
  /** Number of types in its open types. */
  readonly size: number
}

/** A module with the links made by runs. */
export class ModuleInstance {
  readonly loaded: LoadedModule
  readonly name: ModuleName
  /** The 32 bytes of the address. */
  readonly address: Uint8Array
  /** State key of the module. */
  readonly key: NamedKey
  /** Number of the last run that has found its state to hold this very module. */
  run = 0
  /** Number of the last state (the world counts them) that was found to hold this very module. */
  stateNumber = 0
  /** Functions by index of the definition: those without type parameters, and the last instances of others. */
  readonly functions: (FunctionInstance | undefined)[] = []
  /** Functions by index of the definition and ids of the type arguments. */
  readonly genericFunctions = new PartedMap<string, FunctionInstance>()
  /** Types without type parameters, by their ids in the module. */
  readonly types: (Type | undefined)[] = []
  /** The functions that its handles name, once they are found and have the signatures that the handles say. */
  readonly linked = new Map<FunctionHandle, LinkedFunction>()
  /** Numbers of the last runs that were charged for compiling a function, by index of the definition. */
  readonly compiledIn: number[] = []
  /** Number of entries that are active: see `Reentrancy`. */
  entries = 0

  constructor(loaded: LoadedModule, key: NamedKey) {
    this.loaded = loaded
    this.name = loaded.name
    this.address = hexToBytes(loaded.name.address)
    this.key = key
  }
}

/** A function with its type arguments. */
export class FunctionInstance {
  readonly module: ModuleInstance
  readonly loaded: LoadedFunction
  readonly definition: CodedFunction
  readonly typeArguments: readonly Type[]
  /** Number of the last run that has called it and found its module in the state. */
  run = 0
  /** Number of the last run that was charged for linking the code. */
  codeRun = 0
  /** Operands of the instructions, by the index of the link; resolved at the first use. */
  readonly links: unknown[] = []
  /** Numbers of runs, by link: the last run that has found values of the link's type not too deep. */
  readonly checked: number[] = []
  readonly parameterCount: number
  /** The code; undefined until the first call, and for a native function. */
  code: CompiledFunction | undefined = undefined
  /** The native; undefined if the vm does not have it. */
  readonly native: Native | undefined
  /** Types of its parameters and results, once a run has made them. */
  parameterTypes: SignatureTypes | undefined = undefined
  resultTypes: SignatureTypes | undefined = undefined

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
