import { addressToLongHex, addressToShortHex, hexToBytes } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import type { FunctionHandle, SignatureToken } from '@ledger-state/move-module'
import { moduleKey, type StructTag } from '@ledger-state/type-tag'
import type { StepMeter } from '../budget/compile-meter.js'
import type { Meter, ModulesUsage } from '../budget/meter.js'
import { ModuleCharge } from '../budget/module-charge.js'
import { STATUS } from '../faults/status.js'
import { malformedCode, VmFault } from '../faults/vm-fault.js'
import type { Compilation, CompiledFunction } from '../load/compile-function.js'
import type { LoadedFunction, LoadedModule, LoadedStruct } from '../load/loaded-module.js'
import type { LoadedModuleCache } from '../load/loaded-module-cache.js'
import type { ModuleReading } from '../load/module-reading.js'
import type { ModuleName, OpenType, StructName } from '../load/open-type.js'
import type { Native } from '../natives/native.js'
import { compareDeclaration } from '../natives/native-declaration.js'
import { withOpaqueResults } from '../natives/opaque-results.js'
import { type StructType, TYPE_BYTES, TYPE_PART_BYTES, TYPE_WORK, type Type } from '../types/type.js'
import { type ChainSettings, readEnvironment } from './environment.js'
import { FunctionInstance, type LinkedFunction, ModuleInstance, type SignatureTypes } from './instances.js'
import { LayoutTables } from './layout-tables.js'
import { areSameBytes } from './same-bytes.js'
import { areSameLists } from './same-types.js'
import type { NamedKey, StateAccess } from './state-access.js'
import { expectShortNames, type StoredType, storedTypeOf } from './stored-type.js'
import { TypeTable } from './type-table.js'

/** Parts of a run that the world uses while the run has it. */
export interface WorldUser {
  readonly state: StateAccess
  readonly meter: Meter
}

/** Instructions that are charged at the first call of a function in a run. */
const LINK_COST = 20
/** Heap bytes of an instance of a function, and of each of its links. */
const INSTANCE_BYTES = 400
const LINK_BYTES = 32
/** Most that a world may hold to be kept for other runs. Bytes are of heap. */
const KEPT = { moduleBytes: 32 << 20, types: 4_096, functions: 8_192 } as const

/**
 * Thrown if the state of the run has another version of a module than the world. The run starts over, in another world.
 */
export class StaleWorld {}

/**
 * Modules, functions and types, linked by name. One run at a time uses a world; then it is kept for later runs, since
 * linking costs more than most views. Before a run uses something of a world, that is compared with the state of the
 * run. So all runs read and count the same, whether their world is new or not.
 */
export class World {
  readonly types = new TypeTable()
  readonly layouts = new LayoutTables()
  /** State of the extensions that outlive a run, by name. */
  readonly extensions = new Map<string, unknown>()
  readonly #cache: LoadedModuleCache
  readonly #natives: ReadonlyMap<string, Native>
  readonly #modules = new Map<string, ModuleInstance>()
  /** The last module that was loaded with each name, whatever its address. */
  readonly #modulesByName = new Map<string, ModuleInstance>()
  #functions = 0
  /** Heap bytes of all modules; undefined if they have to be counted again. */
  #heapBytes: number | undefined
  /** The function that is being compiled, for the run that uses the world. */
  #compiling: { readonly loaded: LoadedFunction; readonly compilation: Compilation } | undefined
  /** The module that is being decoded and verified, for the run that uses the world. */
  #reading: ModuleReading | undefined
  #user: WorldUser | undefined
  /** Counts the compiling of a function, whose cost was charged already, towards the turn. */
  readonly #turn: StepMeter = {
    charge: (work) => this.meter.countWork(work),
    expectTurn: () => this.meter.expectTurn(),
  }
  /** The number of the run that uses the world. */
  run = 0
  /** Number of the state of the run. Runs over states with the same revision have the same number. */
  #stateNumber = 0
  #stateRevision: string | symbol | undefined
  /** The settings of the state with that number, once they are read. */
  #environment: ChainSettings | undefined
  /** The modules that define structs, by the ids of the types. */
  readonly #definers: (ModuleInstance | undefined)[] = []
  /** Places of stored structs, by the ids of the types. */
  readonly #stored: (StoredType | undefined)[] = []

  constructor(cache: LoadedModuleCache, natives: ReadonlyMap<string, Native>) {
    this.#cache = cache
    this.#natives = natives
  }

  /** Lends the world to a run. */
  begin(user: WorldUser): void {
    this.#user = user
    this.#compiling = undefined
    this.#reading = undefined
    this.run++
    const { revision } = user.state
    if (revision !== undefined && revision === this.#stateRevision) return
    this.#stateNumber++
    this.#stateRevision = revision
    this.#environment = undefined
  }

  /**
   * The settings of the state. Keys of `alsoNeeded` are loaded in the same round.
   * @throws as `readEnvironment`
   */
  environment(alsoNeeded: () => readonly Uint8Array[]): ChainSettings {
    const known = this.#environment
    if (known) this.#state.useEnvironment(known.keys)
    this.#environment ??= readEnvironment(this.#state, alsoNeeded)
    return this.#environment
  }

  /** Ends the run's use of the world. Returns whether it is small enough to be kept. */
  end(): boolean {
    this.#user = undefined
    this.#compiling = undefined
    this.#reading = undefined
    return this.types.count <= KEPT.types && this.#functions <= KEPT.functions && this.heapBytes <= KEPT.moduleBytes
  }

  /** Heap bytes of the modules of the world. */
  get heapBytes(): number {
    if (this.#heapBytes === undefined) {
      this.#heapBytes = 0
      for (const { loaded } of this.#modules.values()) this.#heapBytes += loaded.heapBytes
    }
    return this.#heapBytes
  }

  /** Counts the heap bytes of a module again, after code or types of it were made. */
  recount(loaded: LoadedModule): void {
    this.#heapBytes = undefined
    this.#cache.recount(loaded)
  }

  get #state(): StateAccess {
    return this.#user!.state
  }

  /** The name of a module as a call has it. For a module that was loaded, no text is made. */
  nameOf(address: Uint8Array, module: string): ModuleName {
    const known = this.#modulesByName.get(module)
    return known && areSameBytes(known.address, address) ? known.name : moduleNameOf(bytesToHexDigits(address), module)
  }

  /** Whether the run has used a module. */
  isVisited(key: string): boolean {
    return this.#modules.get(key)?.run === this.run
  }

  /**
   * A module by its name. If it is not loaded, all modules that `from` calls are loaded in the same round.
   * @throws VmFault if there is none; LackingKeys, StaleWorld
   */
  module(name: ModuleName, from?: LoadedModule): ModuleInstance {
    const known = this.#modules.get(name.key)
    if (known) {
      this.use(known, from)
      return known
    }
    const bytes = moduleKey(hexToBytes(name.address), name.name)
    const key = { bytes, text: bytesToHexDigits(bytes) }
    const loaded = this.#load(name, key, from)
    if (loaded.name.key !== name.key)
      throw malformedCode(`module ${loaded.name.key} is stored under the name ${name.key}`)
    const instance = new ModuleInstance(loaded, key)
    this.#begin(instance)
    this.#modules.set(name.key, instance)
    this.#modulesByName.set(name.name, instance)
    this.#heapBytes = undefined
    return instance
  }

  /**
   * Makes sure that the state of the run holds this very module.
   * @throws as `module`
   */
  use(module: ModuleInstance, from?: LoadedModule): void {
    if (module.run === this.run) return
    if (module.stateNumber === this.#stateNumber) {
      this.#state.useModule(module.key)
      this.#charge(module.loaded)
    } else if (this.#load(module.name, module.key, from) !== module.loaded) throw new StaleWorld()
    this.#begin(module)
  }

  /**
   * Charges work that the run does once.
   * @throws VmFault
   */
  charge(instructions: number, bytes = 0): void {
    const { meter } = this
    meter.chargeOnce(instructions)
    if (bytes > 0) meter.chargeBytesOnce(bytes)
  }

  /** The meter of the run that uses the world. */
  get meter(): Meter {
    return this.#user!.meter
  }

  /** The charges for those of some modules that the run has not used yet. */
  costOf(modules: readonly ModuleInstance[]): ModulesUsage {
    let all: { -readonly [part in keyof ModulesUsage]: number } | undefined
    for (const { run, loaded } of modules) {
      if (run === this.run) continue
      all ??= { instructions: 0, bytes: 0, modules: 0, moduleBytes: 0 }
      all.instructions += loaded.cost.instructions
      all.bytes += loaded.cost.bytes
      all.modules++
      all.moduleBytes += loaded.size
    }
    return all ?? NO_USAGE
  }

  /** Charges a loaded module as `#read` does. */
  #charge(loaded: LoadedModule): LoadedModule {
    const { size, cost } = loaded
    this.meter.chargeModule(size)
    this.charge(cost.instructions, cost.bytes)
    return loaded
  }

  /** Begins the use of a module in a run: notes that it is the state's. */
  #begin(module: ModuleInstance): void {
    module.entries = 0
    module.run = this.run
    module.stateNumber = this.#stateNumber
  }

  /**
   * Loads a module from the state, and charges the run for it.
   * @throws VmFault if there is none, or it is malformed; LackingKeys, TurnOver
   */
  #load(name: ModuleName, key: NamedKey, from: LoadedModule | undefined): LoadedModule {
    const state = this.#state
    const alsoNeeded = () => (from ? this.#dependencies(from) : [])
    const told = state.revisionOf(key, alsoNeeded)
    const revision = told?.revision
    const known = revision === undefined ? undefined : this.#cache.getRevision(name.key, revision)
    if (known) return this.#charge(known)
    const bytes = told && revision === undefined ? undefined : state.readModule(key, alsoNeeded)
    if (!bytes)
      throw new VmFault(STATUS.LINKER_ERROR, `Linker Error: Module ${name.address}::${name.name} doesn't exist`)
    // The state does not change under a run, so its bytes were compared when the reading began.
    const isBeingRead = this.#reading?.key === name.key
    const kept = isBeingRead ? undefined : this.#cache.find(name.key, bytes, revision)
    return kept ? this.#charge(kept) : this.#read(name, bytes, revision)
  }

  /**
   * Decodes and verifies a module.
   * @throws VmFault, TurnOver
   */
  #read(name: ModuleName, bytes: Uint8Array, revision: string | undefined): LoadedModule {
    if (this.#reading?.key !== name.key) {
      this.meter.chargeModule(bytes.length)
      this.#reading = this.#cache.beginToRead(name.key, bytes, new ModuleCharge(this.meter, bytes.length))
    }
    const reading = this.#reading
    const module = reading.finish()
    this.#reading = undefined
    this.#cache.keep(reading, module, revision)
    return module
  }

  *#dependencies({ code }: LoadedModule): Iterable<Uint8Array> {
    for (const { module } of code.functionHandles) yield moduleKey(module.address, module.name)
  }

  /**
   * A function by its name, with type arguments.
   * @throws VmFault if there is none; LackingKeys
   */
  function(module: ModuleInstance, name: string, typeArguments: readonly Type[]): FunctionInstance {
    const loaded = module.loaded.functions.get(name)
    if (!loaded) throw functionNotFound(module.name, name)
    if (loaded.definition.typeParameters.length !== typeArguments.length) {
      throw new VmFault(STATUS.NUMBER_OF_TYPE_ARGUMENTS_MISMATCH)
    }
    const instance = this.#instance(module, loaded, typeArguments)
    this.useFunction(instance)
    return instance
  }

  #instance(module: ModuleInstance, loaded: LoadedFunction, typeArguments: readonly Type[]): FunctionInstance {
    if (typeArguments.length === 0) {
      module.functions[loaded.index] ??= this.#instantiate(module, loaded, typeArguments)
      return module.functions[loaded.index]!
    }
    const last = module.functions[loaded.index]
    if (last && areSame(last.typeArguments, typeArguments)) return last
    const key = `${loaded.index}<${typeArguments.map(({ id }) => id).join()}`
    const instance = module.genericFunctions.get(key) ?? this.#instantiate(module, loaded, typeArguments)
    module.genericFunctions.set(key, instance)
    module.functions[loaded.index] = instance
    return instance
  }

  #instantiate(module: ModuleInstance, loaded: LoadedFunction, typeArguments: readonly Type[]): FunctionInstance {
    this.#functions++
    const native = loaded.definition.isNative ? this.#nativeOf(module.name, loaded) : undefined
    return new FunctionInstance(module, loaded, typeArguments, native)
  }

  /**
   * The native that a function declares; undefined if there is none.
   * @throws VmFault if it has another signature
   */
  #nativeOf(module: ModuleName, { definition }: LoadedFunction): Native | undefined {
    const key = nativeKey(module, definition.name)
    const native = this.#natives.get(key)
    if (!native) return undefined
    const declaration = compareDeclaration(key, definition)
    if (declaration === 'refused') throw malformedCode(`${key} is declared with another signature`)
    return declaration.foreignResults.length > 0 ? withOpaqueResults(native, declaration.foreignResults) : native
  }

  /**
   * Makes sure, at the first call of a function in a run, that it is the state's. `from` is the module that calls.
   * @throws VmFault, LackingKeys, StaleWorld
   */
  useFunction(instance: FunctionInstance, from?: LoadedModule): void {
    if (instance.run === this.run) return
    this.use(instance.module, from)
    instance.run = this.run
    this.charge(LINK_COST)
  }

  /**
   * The function that a call names.
   * @throws VmFault, LackingKeys
   */
  callee(caller: FunctionInstance, handle: FunctionHandle, typeArguments: readonly OpenType[]): FunctionInstance {
    const { module, loaded } = this.#linked(caller.module, handle)
    this.use(module, caller.module.loaded)
    const callee = this.#instance(module, loaded, this.instantiateAll(caller, typeArguments))
    this.useFunction(callee)
    return callee
  }

  /** The function that a handle names, found and compared once for all code of the module. */
  #linked(caller: ModuleInstance, handle: FunctionHandle): LinkedFunction {
    const known = caller.linked.get(handle)
    if (known) return known
    const { types } = caller.loaded
    const module = this.module(types.nameOf(handle.module), caller.loaded)
    const loaded = module.loaded.functions.get(handle.name)
    if (!loaded) throw functionNotFound(module.name, handle.name)
    const { definition } = loaded
    if (definition.typeParameters.length !== handle.typeParameters.length) {
      throw new VmFault(STATUS.NUMBER_OF_TYPE_ARGUMENTS_MISMATCH)
    }
    const isSame =
      this.#isSame(caller.loaded, handle.parameters, module.loaded, definition.parameters) &&
      this.#isSame(caller.loaded, handle.results, module.loaded, definition.results)
    if (!isSame || !hasConstraints(handle.typeParameters, definition.typeParameters)) {
      throw malformedCode(`${handle.name} is called with another signature`)
    }
    if (module !== caller && !isVisible(loaded, caller))
      throw malformedCode(`${handle.name} is not visible to its caller`)
    const linked = { module, loaded }
    caller.linked.set(handle, linked)
    return linked
  }

  #isSame(
    module: LoadedModule,
    tokens: readonly SignatureToken[],
    other: LoadedModule,
    others: readonly SignatureToken[],
  ): boolean {
    if (tokens.length !== others.length) return false
    return areSameLists(this.#convert(module, tokens), this.#convert(other, others), this.types)
  }

  /**
   * The code of a function, compiled at its first use. A run is charged for compiling each function and linking each
   * instance once, whichever run has done it.
   * @throws VmFault, TurnOver
   */
  codeOf(instance: FunctionInstance): CompiledFunction {
    const { module, loaded } = instance
    this.#chargeCompiling(module, loaded)
    const code = instance.code ?? this.#compile(loaded)
    instance.code = code
    instance.codeRun = this.run
    const { linkWork, linkTypes, links } = code
    this.charge(linkWork, INSTANCE_BYTES + LINK_BYTES * links.length + (TYPE_BYTES + TYPE_PART_BYTES) * linkTypes)
    return code
  }

  #chargeCompiling(module: ModuleInstance, loaded: LoadedFunction): void {
    if (module.compiledIn[loaded.index] === this.run) return
    const { work, bytes } = module.loaded.costOf(loaded)
    module.compiledIn[loaded.index] = this.run
    this.charge(work, bytes)
  }

  #compile(loaded: LoadedFunction): CompiledFunction {
    const { module } = loaded
    const known = module.compiled(loaded)
    if (known) return known
    if (this.#compiling?.loaded !== loaded) {
      this.#compiling = { loaded, compilation: module.beginToCompile(loaded, this.#turn) }
    }
    try {
      const code = this.#compiling.compilation.finish()
      module.keep(loaded, code)
      this.#compiling = undefined
      return code
    } finally {
      this.recount(module)
    }
  }

  /**
   * Types of the signature of a function, with its type arguments put in. They are charged before they are made.
   * @throws VmFault
   */
  signatureTypes(instance: FunctionInstance, tokens: readonly SignatureToken[]): readonly Type[] {
    const types = this.openTypes(instance.module, tokens)
    this.#chargeSignature(sizeOf(types))
    return this.instantiateAll(instance, types)
  }

  #chargeSignature(size: number): void {
    this.meter.chargeInstructions(TYPE_WORK * size)
    this.meter.chargeBytes((TYPE_BYTES + TYPE_PART_BYTES) * size)
  }

  /**
   * Types of the parameters of a function, as `signatureTypes` makes and charges them.
   * @throws VmFault
   */
  parameterTypes(instance: FunctionInstance): readonly Type[] {
    instance.parameterTypes = this.#knownTypes(instance, instance.definition.parameters, instance.parameterTypes)
    return instance.parameterTypes.types
  }

  /**
   * Types of the results of a function, as `signatureTypes` makes and charges them.
   * @throws VmFault
   */
  resultTypes(instance: FunctionInstance): readonly Type[] {
    instance.resultTypes = this.#knownTypes(instance, instance.definition.results, instance.resultTypes)
    return instance.resultTypes.types
  }

  #knownTypes(
    instance: FunctionInstance,
    tokens: readonly SignatureToken[],
    known: SignatureTypes | undefined,
  ): SignatureTypes {
    if (known) {
      this.meter.chargeInstructions(known.tokenCount)
      this.#chargeSignature(known.size)
      return known
    }
    const open = this.openTypes(instance.module, tokens)
    const size = sizeOf(open)
    this.#chargeSignature(size)
    const tokenCount = instance.module.loaded.types.sizeOfAll(tokens)
    return { types: this.instantiateAll(instance, open), tokenCount, size }
  }

  /**
   * Types of a signature as the code of a module names them. They are charged before they are made.
   * @throws VmFault
   */
  openTypes({ loaded }: ModuleInstance, tokens: readonly SignatureToken[]): readonly OpenType[] {
    this.meter.chargeInstructions(loaded.types.sizeOfAll(tokens))
    return this.#convert(loaded, tokens)
  }

  /** Types of a signature, those that are new in steps. */
  #convert(loaded: LoadedModule, tokens: readonly SignatureToken[]): readonly OpenType[] {
    const { types } = loaded
    const before = types.heapBytes
    const converted = tokens.map((token) => {
      if (types.has(token)) return types.of(token)
      this.meter.expectTurn()
      const type = types.of(token)
      this.meter.countWork(type.size)
      return type
    })
    if (types.heapBytes !== before) this.recount(loaded)
    return converted
  }

  /** A type that the code of a function names, with the function's type arguments put in. */
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

  /**
   * The definition of a struct.
   * @throws VmFault if there is none; LackingKeys, StaleWorld
   */
  structOf(type: StructType): LoadedStruct {
    return this.moduleOf(type).loaded.structs.get(type.name)!
  }

  /**
   * The module that defines a struct.
   * @throws as `structOf`
   */
  moduleOf(type: StructType): ModuleInstance {
    const module = this.moduleNamedBy(type)
    if (this.#definers[type.id] === module) return module
    const struct = module.loaded.structs.get(type.name)
    if (!struct) throw structNotFound(type)
    if (struct.definition.typeParameters.length !== type.typeArguments.length) {
      throw new VmFault(STATUS.NUMBER_OF_TYPE_ARGUMENTS_MISMATCH)
    }
    this.#definers[type.id] = module
    return module
  }

  /**
   * The module that a struct names as its own, whether or not the module defines it.
   * @throws as `module`
   */
  moduleNamedBy({ id, address, module }: StructType): ModuleInstance {
    const known = this.#definers[id]
    if (!known) return this.module(moduleNameOf(address, module))
    this.use(known)
    return known
  }

  /**
   * The module that defines a struct which code names with a number of type arguments.
   * @throws as `structOf`
   */
  definerOf({ module, name }: StructName, typeArgumentCount: number): ModuleInstance {
    const instance = this.module(module)
    const struct = instance.loaded.structs.get(name)
    if (!struct) throw structNotFound({ address: module.address, module: module.name, name })
    if (struct.definition.typeParameters.length !== typeArgumentCount) {
      throw new VmFault(STATUS.NUMBER_OF_TYPE_ARGUMENTS_MISMATCH)
    }
    return instance
  }

  /**
   * Finds the place at which values of a struct are stored.
   * @throws VmFault; LackingKeys, StaleWorld
   */
  storedType(type: StructType): StoredType {
    const { definition } = this.structOf(type)
    const known = this.#stored[type.id]
    if (known) return known
    expectShortNames(type.nameLength)
    const stored = storedTypeOf(this.types.tagOf(type) as StructTag, definition.resourceGroup)
    this.#stored[type.id] = stored
    return stored
  }
}

const NO_TYPES: readonly Type[] = []
const NO_USAGE: ModulesUsage = { instructions: 0, bytes: 0, modules: 0, moduleBytes: 0 }

function areSame(types: readonly Type[], others: readonly Type[]): boolean {
  if (types.length !== others.length) return false
  for (let at = 0; at < types.length; at++) if (types[at] !== others[at]) return false
  return true
}

function sizeOf(types: readonly OpenType[]): number {
  let size = 0
  for (const type of types) size += type.size
  return size
}

/** Whether type arguments with some abilities have all that a function asks for. */
function hasConstraints(given: readonly number[], asked: readonly number[]): boolean {
  return asked.every((constraints, at) => (constraints & ~given[at]!) === 0)
}

/** Whether code of another module may call a function. */
function isVisible({ module, definition }: LoadedFunction, { name }: ModuleInstance): boolean {
  if (definition.visibility !== 'friend') return definition.visibility === 'public'
  return module.code.friends.some((friend) => module.types.nameOf(friend).key === name.key)
}

export function moduleNameOf(address: string, name: string): ModuleName {
  return { address, name, key: `${address}::${name}` }
}

/** An address as texts of faults have it: `0x1` up to `0xf` are short, others have all digits. */
function faultAddress(address: string): string {
  const bytes = hexToBytes(address)
  const short = addressToShortHex(bytes)
  return short.length === 3 ? short : addressToLongHex(bytes)
}

function functionNotFound({ address, name }: ModuleName, functionName: string): VmFault {
  const text = `Function ${faultAddress(address)}::${name}::${functionName} does not exist`
  return new VmFault(STATUS.FUNCTION_RESOLUTION_FAILURE, text)
}

function structNotFound({ address, module, name }: Pick<StructType, 'address' | 'module' | 'name'>): VmFault {
  return new VmFault(
    STATUS.TYPE_RESOLUTION_FAILURE,
    `Struct ${faultAddress(address)}::${module}::${name} does not exist`,
  )
}

function nativeKey({ address, name }: ModuleName, functionName: string): string {
  return `${addressToShortHex(hexToBytes(address))}::${name}::${functionName}`
}
