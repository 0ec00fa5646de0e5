import type { LoadedStruct } from '../load/loaded-module.js'
import type { TypeLayout } from '../natives/native.js'
import type { RuntimeLayout } from '../types/runtime-layout.js'
import type { Type } from '../types/type.js'
import type { ModuleInstance } from './instances.js'

/** The layout of a type, and the modules that it follows from. */
export interface LayoutEntry {
  readonly value: RuntimeLayout
  readonly modules: readonly ModuleInstance[]
  /** Instructions and bytes that are charged at its first use in a run. */
  readonly work: number
  readonly bytes: number
  /** Number of the last run that has found those modules in its state. */
  run: number
}

/** Cost of making the fields of an instance of a struct. */
export interface FieldCost {
  readonly work: number
  readonly bytes: number
}

/** Levels of values: at least `constant`, and for each type parameter the levels of its argument and some more. */
export interface Levels {
  readonly constant: number
  /** Levels above the type parameter, by its index. */
  readonly terms: ReadonlyMap<number, number>
}

/** Levels of the values of a struct as a function of the levels of its type arguments. */
export interface DepthFormula extends Levels {
  readonly module: ModuleInstance
  /** Formulas of the structs that its fields name. */
  readonly uses: ReadonlySet<DepthFormula>
  /** Instructions that are charged at its first use in a run. */
  readonly work: number
  /** Number of the last run that has found its modules in its state. */
  run: number
}

/** Results about types that a world keeps between runs, by the ids of the types. */
export class LayoutTables {
  readonly layouts: (LayoutEntry | undefined)[] = []
  readonly typeLayouts: (TypeLayout | undefined)[] = []
  /** Types of the fields that were made so far, in order, of type layouts that are not finished. */
  readonly unfinished = new Map<number, Type[]>()
  readonly fieldCosts = new Map<LoadedStruct, FieldCost>()
  readonly depths = new Map<LoadedStruct, DepthFormula>()
  /** Numbers of the last runs that have found the values of a type not too deep. */
  readonly shallow: number[] = []
}
