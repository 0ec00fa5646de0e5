import { addressToLongHex, addressToShortHex, hexToBytes } from '@ledger-state/core'
import type { CodedFunction, FunctionHandle } from '@ledger-state/move-module'
import { moduleKey } from '@ledger-state/type-tag'
import type { Meter } from '../budget/meter.js'
import { STATUS } from '../faults/status.js'
import { malformedCode, VmFault } from '../faults/vm-fault.js'
import type { CompiledFunction } from '../load/compile-function.js'
import type { LoadedFunction, LoadedModule, LoadedStruct } from '../load/loaded-module.js'
import type { ModuleCache } from '../load/module-cache.js'
import type { ModuleName, OpenType } from '../load/open-type.js'
import type { Native } from '../natives/native.js'
import type { StructType, Type } from '../types/type.js'
import type { StateAccess } from './state-access.js'
import { TypeTable } from './type-table.js'

/** A module in a run. */
export class ModuleInstance {
  readonly loaded: LoadedModule
  readonly name: ModuleName
  /** By index of the definition; of functions without type parameters. */
  readonly functions: (FunctionInstance | undefined)[] = []
  /** By index of the definition and ids of the type arguments. */
  readonly genericFunctions = new Map<string, FunctionInstance>()
  /** Types without type parameters, by their ids in the module. */
  readonly types: (Type | undefined)[] = []
  /** Entries that are active: see `Reentrancy`. */
  entries = 0

  constructor(loaded: LoadedModule) {
    this.loaded = loaded
    this.name = loaded.name
  }
}

/** A function in a run, with its type arguments. */
export class FunctionInstance {
  readonly module: ModuleInstance
  readonly loaded: LoadedFunction
  readonly definition: CodedFunction
  readonly typeArguments: readonly Type[]
  /** What the instructions name, by the links of the code; resolved at the first use. */
  readonly links: unknown[] = []
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

interface WorldParts {
  readonly state: StateAccess
  readonly meter: Meter
  readonly cache: ModuleCache
  readonly natives: ReadonlyMap<string, Native>
}

/** Instructions that resolving a call, or making a type, counts as. */
const LINK_COST = 20

/** The modules, functions and types of a run, linked by name at the version. */
export class World {
  readonly types = new TypeTable()
  readonly #parts: WorldParts
  readonly #modules = new Map<string, ModuleInstance>()

  constructor(parts: WorldParts) {
    this.#parts = parts
  }

  isVisited(key: string): boolean {
    return this.#modules.has(key)
  }

  /**
   * A module by its name. Where it is not loaded yet, all modules that `from` calls are asked for in the same round.
   * @throws VmFault where there is none; LackingKeys
   */
  module({ address, name, key }: ModuleName, from?: LoadedModule): ModuleInstance {
    const known = this.#modules.get(key)
    if (known) return known
    const { state, meter, cache } = this.#parts
    const stateKey = moduleKey(hexToBytes(address), name)
    const alsoNeeded = () => (from ? this.#dependencies(from) : [])
    const told = state.revisionOf(stateKey, alsoNeeded)
    const revision = told?.revision
    let loaded = revision === undefined ? undefined : cache.getRevision(key, revision)
    if (!loaded) {
      const bytes = told && revision === undefined ? undefined : state.readModule(stateKey, alsoNeeded)
      if (!bytes) throw new VmFault(STATUS.LINKER_ERROR, `Linker Error: Module ${address}::${name} doesn't exist`)
      loaded = cache.load(key, bytes, revision)
    }
    if (loaded.name.key !== key) throw malformedCode(`${loaded.name.key} stands under the name ${key}`)
    meter.chargeModule(loaded.size)
    const instance = new ModuleInstance(loaded)
    this.#modules.set(key, instance)
    return instance
  }

  *#dependencies({ code }: LoadedModule): Iterable<Uint8Array> {
    for (const { module } of code.functionHandles) yield moduleKey(module.address, module.name)
  }

  /** A function by its name, with type arguments. @throws VmFault where there is none; LackingKeys */
  function(module: ModuleInstance, name: string, typeArguments: readonly Type[]): FunctionInstance {
    const loaded = module.loaded.functions.get(name)
    if (!loaded) throw functionNotFound(module.name, name)
    if (loaded.definition.typeParameters.length !== typeArguments.length) {
      throw new VmFault(STATUS.NUMBER_OF_TYPE_ARGUMENTS_MISMATCH)
    }
    if (typeArguments.length === 0) {
      const known = module.functions[loaded.index]
      if (known) return known
      const instance = this.#instantiate(module, loaded, typeArguments)
      module.functions[loaded.index] = instance
      return instance
    }
    const key = `${loaded.index}<${typeArguments.map(({ id }) => id).join()}`
    const known = module.genericFunctions.get(key)
    if (known) return known
    const instance = this.#instantiate(module, loaded, typeArguments)
    module.genericFunctions.set(key, instance)
    return instance
  }

  #instantiate(module: ModuleInstance, loaded: LoadedFunction, typeArguments: readonly Type[]): FunctionInstance {
    this.#parts.meter.chargeInstructions(LINK_COST)
    const { name, isNative } = loaded.definition
    const native = isNative ? this.#parts.natives.get(nativeKey(module.name, name)) : undefined
    return new FunctionInstance(module, loaded, typeArguments, native)
  }

  /** What a call in a function names. @throws VmFault, LackingKeys */
  callee(caller: FunctionInstance, handle: FunctionHandle, typeArguments: readonly OpenType[]): FunctionInstance {
    const { loaded } = caller.module
    const module = this.module(loaded.types.nameOf(handle.module), loaded)
    const callee = this.function(module, handle.name, this.instantiateAll(caller, typeArguments))
    const expected = loaded.signatureText(handle)
    if (module.loaded.signatureText(callee.definition) !== expected) {
      throw malformedCode(`${handle.name} is called as what it is not`)
    }
    return callee
  }

  /** The code of a function, compiled at its first use. @throws VmFault */
  codeOf(instance: FunctionInstance): CompiledFunction {
    instance.code ??= instance.module.loaded.compiled(instance.loaded)
    return instance.code
  }

  /** A type in the code of a function. */
  instantiate(scope: FunctionInstance, type: OpenType): Type {
    if (type.isOpen) return this.types.instantiate(type, scope.typeArguments)
    const { types } = scope.module
    const known = types[type.id]
    if (known) return known
    const made = this.types.instantiate(type, [])
    types[type.id] = made
    return made
  }

  instantiateAll(scope: FunctionInstance, types: readonly OpenType[]): readonly Type[] {
    return types.length === 0 ? NO_TYPES : types.map((type) => this.instantiate(scope, type))
  }

  /** The definition of a struct. @throws VmFault where there is none; LackingKeys */
  structOf(type: StructType): LoadedStruct {
    const module = this.module(moduleNameOf(type.address, type.module))
    const struct = module.loaded.structs.get(type.name)
    if (!struct) throw structNotFound(type)
    if (struct.definition.typeParameters.length !== type.typeArguments.length) {
      throw new VmFault(STATUS.NUMBER_OF_TYPE_ARGUMENTS_MISMATCH)
    }
    return struct
  }
}

const NO_TYPES: readonly Type[] = []

export function moduleNameOf(address: string, name: string): ModuleName {
  return { address, name, key: `${address}::${name}` }
}

/** `0x1` up to `0xf`, others with all digits: as texts of faults have addresses. */
export function faultAddress(address: string): string {
  const bytes = hexToBytes(address)
  const short = addressToShortHex(bytes)
  return short.length === 3 ? short : addressToLongHex(bytes)
}

export function functionNotFound({ address, name }: ModuleName, functionName: string): VmFault {
  const text = `Function ${faultAddress(address)}::${name}::${functionName} does not exist`
  return new VmFault(STATUS.FUNCTION_RESOLUTION_FAILURE, text)
}

function structNotFound({ address, module, name }: StructType): VmFault {
  return new VmFault(
    STATUS.TYPE_RESOLUTION_FAILURE,
    `Struct ${faultAddress(address)}::${module}::${name} does not exist`,
  )
}

function nativeKey({ address, name }: ModuleName, functionName: string): string {
  return `${addressToShortHex(hexToBytes(address))}::${name}::${functionName}`
}
