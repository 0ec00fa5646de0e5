import type { TypeTag } from '@ledger-state/type-tag'
import type { ViewBudget, ViewUsage } from '../budget/view-budget.js'
import type { ComputeTask } from '../compute-task.js'
import type { ViewFault } from '../faults/view-fault.js'

/** A call of a view function. */
export interface ViewCall {
  /** 32 bytes. */
  readonly address: Uint8Array
  readonly module: string
  readonly function: string
  readonly typeArguments: readonly TypeTag[]
  /** The BCS of each argument, without those that the caller cannot give. */
  readonly arguments: readonly Uint8Array[]
}

/** A result of a view function. */
export interface ViewResult {
  /** Type with type arguments substituted; the type that a reference is to. */
  readonly type: TypeTag
  readonly bytes: Uint8Array
}

/** How a view ended, and what it used of its budget. */
export type ViewOutcome =
  | { readonly kind: 'results'; readonly results: readonly ViewResult[]; readonly usage: ViewUsage }
  | { readonly kind: 'fault'; readonly fault: ViewFault; readonly usage: ViewUsage }

/** State of a run. */
export type ViewProgress =
  | ViewOutcome
  /** It has used up the instructions of this turn: `advance` again. */
  | { readonly kind: 'paused' }
  /** It lacks the values of keys: load them, all in one round, then `advance` again. */
  | { readonly kind: 'lacking'; readonly keys: readonly Uint8Array[] }
  /** It waits for a task: `provide` its result, then `advance` again. Only where tasks are done elsewhere. */
  | { readonly kind: 'computing'; readonly task: ComputeTask }

/** A view that is run in turns. */
export interface ViewRun {
  /** Runs until the end, or at most a number of instructions, or until it lacks something. */
  advance(instructions: number): ViewProgress
  /** Gives the result of the task that the run waits for. */
  provide(result: readonly Uint8Array[]): void
}

/** How a view is run. */
export interface ViewOptions {
  readonly budget?: Partial<ViewBudget> | undefined
  /** Whether tasks are done elsewhere: `advance` then answers `computing`. By default they are done at once. */
  readonly computesElsewhere?: boolean | undefined
  /** Called with each key that the run uses, once, whether or not a cache had it. */
  readonly traceRead?: ((key: Uint8Array) => void) | undefined
}
