import type { TypeTag } from '@ledger-state/type-tag'
import type { ViewBudget, ViewUsage } from '../budget/view-budget.js'
import type { ComputeTask } from '../compute-task.js'
import type { ViewFault } from '../faults/view-fault.js'
import type { TraceRead } from '../state/view-state.js'

/** A call of a view function. */
export interface ViewCall {
  /** 32 bytes. */
  readonly address: Uint8Array
  readonly module: string
  readonly function: string
  readonly typeArguments: readonly TypeTag[]
  /** The BCS of each argument, except of those that only a transaction can give. */
  readonly arguments: readonly Uint8Array[]
}

/** A result of a view function. */
export interface ViewResult {
  /** Type with type arguments put in; for a reference, the type that it is to. */
  readonly type: TypeTag
  readonly bytes: Uint8Array
}

/** Outcome of a view, and the used part of its budget. */
export type ViewOutcome =
  | { readonly kind: 'results'; readonly results: readonly ViewResult[]; readonly usage: ViewUsage }
  | { readonly kind: 'fault'; readonly fault: ViewFault; readonly usage: ViewUsage }

/** State of a view that runs in turns. */
export type ViewProgress =
  | ViewOutcome
  /** The view has used up the instructions of this turn: call `advance` again. */
  | { readonly kind: 'paused' }
  /** The view lacks values of keys: load all of them in one round, then call `advance` again. */
  | { readonly kind: 'lacking'; readonly keys: readonly Uint8Array[] }
  /**
   * The view waits for a task: `provide` its result, then call `advance` again. Occurs only if tasks are done
   * elsewhere.
   */
  | { readonly kind: 'computing'; readonly task: ComputeTask }

/** A view that is run in turns. */
export interface ViewRun {
  /** Runs the view until it ends, lacks something, or has run a number of instructions. */
  advance(instructions: number): ViewProgress
  /** Gives the result of the task that the view waits for. */
  provide(result: readonly Uint8Array[]): void
  /** Bytes that the view has been charged so far: at least the size of its values. */
  readonly bytes: number
}

/** Settings of one view. */
export interface ViewOptions {
  readonly budget?: Partial<ViewBudget> | undefined
  /** Whether tasks are done elsewhere, so that `advance` answers `computing`. By default they are done at once. */
  readonly computesElsewhere?: boolean | undefined
  /** Called with each key that the run uses, once, even if a cache had the value. */
  readonly traceRead?: TraceRead | undefined
}
