import type { CodedFunction, FieldDefinition, ModuleCode, StructDefinition } from '@ledger-state/move-module'
import { beginToCompile, type Compilation, type CompiledFunction } from './compile-function.js'
import type { StepMeter } from './compile-meter.js'
import { type ModuleName, OpenTypes } from './open-type.js'

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

/** The code of a function, and what compiling it took: the same however often it is compiled. */
export interface CompiledCode {
  readonly code: CompiledFunction
  /** Instructions. */
  readonly work: number
  readonly bytes: number
}

/** Heap bytes of a decoded module for each byte of its binary, and for each type in its signatures. */
const HEAP_PER_BYTE = 8
const HEAP_PER_TOKEN = 72

/**
 * A decoded module with what follows from its bytes alone. Nothing in it depends on other modules or on a version, so
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
  readonly #compiled = new Map<LoadedFunction, CompiledCode>()
  readonly #decodedBytes: number
  #codeBytes = 0

  constructor(code: ModuleCode, size: number) {
    this.code = code
    this.size = size
    this.name = this.types.nameOf(code)
    this.functions = new Map(
      code.functions.map((definition, index) => [definition.name, { module: this, index, definition }]),
    )
    this.structs = new Map(code.structs.map((definition) => [definition.name, { module: this, definition }]))
    this.#decodedBytes = HEAP_PER_BYTE * size + HEAP_PER_TOKEN * code.tokenCount
  }

  /** Heap bytes of the module with all that was compiled of it. */
  get heapBytes(): number {
    return this.#decodedBytes + this.types.heapBytes + this.#codeBytes
  }

  /** Heap bytes of the decoded module. They follow from its binary. */
  get decodedBytes(): number {
    return this.#decodedBytes
  }

  /** The code of a function, if it was compiled. */
  compiled(loaded: LoadedFunction): CompiledCode | undefined {
    return this.#compiled.get(loaded)
  }

  /**
   * Begins to compile a function.
   * @throws VmFault
   */
  beginToCompile({ definition }: LoadedFunction, meter: StepMeter): Compilation {
    return beginToCompile(this, definition, meter)
  }

  /** Keeps the code of a function. */
  keep(loaded: LoadedFunction, compiled: CompiledCode): void {
    this.#compiled.set(loaded, compiled)
    this.#codeBytes += compiled.code.heapBytes
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
