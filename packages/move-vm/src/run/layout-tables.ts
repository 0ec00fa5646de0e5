import type { TypeLayout } from '../natives/native.js'
import type { RuntimeLayout } from '../types/runtime-layout.js'
import type { ModuleInstance } from './instances.js'

/** A result that was worked out for a type, and the modules that it follows from. */
export interface LayoutEntry<T> {
  readonly value: T
  readonly modules: ReadonlySet<ModuleInstance>
  /** Instructions that are charged at its first use in a run. */
  readonly cost: number
  /** Number of the last run that has found those modules in its state. */
  run: number
}

/** Results about types that a world keeps between runs, by the ids of the types. */
export class LayoutTables {
  readonly layouts: (LayoutEntry<RuntimeLayout> | undefined)[] = []
  readonly typeLayouts: (TypeLayout | undefined)[] = []
  readonly depths: (LayoutEntry<number> | undefined)[] = []
}
