import type { TypeLayout } from '../natives/native.js'
import type { Layout } from '../types/layout.js'
import type { ModuleInstance } from './instances.js'

/** What was worked out for a type, and the modules that it follows from. */
export interface LayoutEntry<T> {
  readonly value: T
  readonly modules: ReadonlySet<ModuleInstance>
  /** Instructions that its first use in a run counts as. */
  readonly cost: number
  /** The last run that has seen that those modules stand in its state. */
  run: number
}

/** What the layouts of a world keep between runs, by the ids of types. */
export class LayoutTables {
  readonly layouts: (LayoutEntry<Layout> | undefined)[] = []
  readonly typeLayouts: (TypeLayout | undefined)[] = []
  readonly depths: (LayoutEntry<number> | undefined)[] = []
}
