import type {
  CodedFunction,
  FieldDefinition,
  FunctionHandle,
  ModuleCode,
  ModuleId,
  StructDefinition,
  StructHandle,
} from '@ledger-state/move-module'
import type { StepMeter } from '../budget/compile-meter.js'
import type { CompileCost, ModuleCost } from '../budget/module-charge.js'
import { beginToCompile, type Compilation, type CompiledFunction } from './compile-function.js'
import { type ModuleName, OpenTypes, type StructName } from './open-type.js'

/** A function of a loaded module. */
export interface LoadedFunction {
  readonly module: LoadedModule
  /** Index among the function definitions of the module. */
  readonly index: number
  readonly definition: CodedFunction
}

/** A struct or enum of a loaded module. */
export interface LoadedStruct {
  readonly module: LoadedModule
  readonly definition: StructDefinition
}

/** Costs of a verified module. */
interface ModuleCosts {
  readonly cost: ModuleCost
  /** Costs of compiling the functions, by index of the definition. */
  readonly functions: readonly CompileCost[]
}

const NO_COSTS: ModuleCosts = { cost: { instructions: 0, bytes: 0 }, functions: [] }

/**
 * Bytes of a decoded module: of any, for each byte of its binary (an instruction of one byte takes nine), and for each
 * type in its signatures. Measured on Node 24 over the modules of two genesis transactions.
 */
const BYTES_OF_MODULE = 12_000
const BYTES_PER_BYTE = 9
const BYTES_PER_TOKEN = 72
const BYTES_PER_STRUCT_HANDLE = 160
const BYTES_PER_COST = 40

/**
 * A decoded module with data derived only from its bytes. Nothing in it depends on other modules or on a version, so
 * all runs share it.
 */
export class LoadedModule {
  readonly code: ModuleCode
  readonly name: ModuleName
  /** Size of the binary. */
  readonly size: number
  readonly types = new OpenTypes()
  readonly functions: ReadonlyMap<string, LoadedFunction>
  readonly structs: ReadonlyMap<string, LoadedStruct>
  readonly #structHandles = new Map<ModuleName, Map<string, StructHandle>>()
  readonly #costs: ModuleCosts
  readonly #compiled = new Map<LoadedFunction, CompiledFunction>()
  readonly #decodedBytes: number
  #codeBytes = 0

  constructor(code: ModuleCode, size: number, costs = NO_COSTS) {
    this.code = code
    this.#costs = costs
    this.size = size
    this.name = this.types.nameOf(code)
    this.functions = new Map(
      code.functions.map((definition, index) => [definition.name, { module: this, index, definition }]),
    )
    this.structs = new Map(code.structs.map((definition) => [definition.name, { module: this, definition }]))
    this.#decodedBytes = BYTES_PER_BYTE * size + BYTES_PER_TOKEN * code.tokenCount
    this.#decodedBytes += BYTES_PER_STRUCT_HANDLE * code.structHandles.length
    for (const handle of code.structHandles) this.#nameStruct(handle)
  }

  /** Heap bytes of the module with all that was compiled of it. */
  get heapBytes(): number {
    const costBytes = BYTES_PER_COST * this.#costs.functions.length
    return BYTES_OF_MODULE + this.#decodedBytes + this.types.heapBytes + this.#codeBytes + costBytes
  }

  /** Cost of the module for a run that finds it loaded. */
  get cost(): ModuleCost {
    return this.#costs.cost
  }

  /** Cost of compiling a function. */
  costOf({ index }: LoadedFunction): CompileCost {
    return this.#costs.functions[index]!
  }

  /** Heap bytes of the decoded module, without the fixed bytes of any module. They are computed from its binary. */
  get decodedBytes(): number {
    return this.#decodedBytes
  }

  #nameStruct(handle: StructHandle): void {
    const module = this.types.nameOf(handle.module)
    const known = this.#structHandles.get(module)
    if (known) known.set(handle.name, handle)
    else this.#structHandles.set(module, new Map([[handle.name, handle]]))
  }

  /** Facts about a struct that the code of a module names. */
  structHandle({ module, name }: StructName): StructHandle | undefined {
    return this.#structHandles.get(module)?.get(name)
  }

  handleOf(module: ModuleId, name: string): StructHandle | undefined {
    return this.#structHandles.get(this.types.nameOf(module))?.get(name)
  }

  /** Whether a name is the name of this module. */
  isOwn(module: ModuleId): boolean {
    return this.types.nameOf(module) === this.name
  }

  acquiredBy({ module, name }: FunctionHandle): readonly number[] {
    if (!this.isOwn(module)) return []
    return this.functions.get(name)?.definition.acquires ?? []
  }

  /** The code of a function, if it was compiled. */
  compiled(loaded: LoadedFunction): CompiledFunction | undefined {
    return this.#compiled.get(loaded)
  }

  /** Begins to compile a function of a verified module. */
  beginToCompile({ definition }: LoadedFunction, meter: StepMeter): Compilation {
    return beginToCompile(this, definition, meter)
  }

  /** Keeps the code of a function. */
  keep(loaded: LoadedFunction, code: CompiledFunction): void {
    this.#compiled.set(loaded, code)
    this.#codeBytes += code.heapBytes
  }
}

/** All fields of a struct, or of all variants of an enum. */
export function fieldsOf(definition: StructDefinition): readonly FieldDefinition[] {
  switch (definition.kind) {
    case 'struct':
      return definition.fields
    case 'enum':
      return definition.variants.flatMap(({ fields }) => fields)
    default:
      return []
  }
}
