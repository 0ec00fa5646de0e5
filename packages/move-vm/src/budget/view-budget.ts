/**
 * The most that a run may use, `DEFAULT_BUDGET` by default. A run that needs more ends in a fault. No limit is a time.
 */
export interface ViewBudget {
  /** Instructions; natives count as many as their work takes. */
  readonly instructions: number
  /** Bytes copied, compared, hashed, serialised, and of new values. */
  readonly bytes: number
  /** Distinct keys read, and bytes of their values, modules not counted. */
  readonly reads: number
  readonly readBytes: number
  /** Distinct modules used, and their bytes. The gas schedule of the public networks has 768 and 1,887,436. */
  readonly modules: number
  readonly moduleBytes: number
}

/** Use of its budget by a run; the same cold and warm. */
export type ViewUsage = ViewBudget

/** The budget of a run without the option `budget`. */
export const DEFAULT_BUDGET: ViewBudget = {
  instructions: 5_000_000,
  bytes: 64 << 20,
  reads: 2_000,
  readBytes: 16 << 20,
  modules: 768,
  moduleBytes: 2 << 20,
}

/** A budget with all of its parts: those that are not named are the default ones. */
export function completeBudget(budget: Partial<ViewBudget> = DEFAULT_BUDGET): ViewBudget {
  return {
    instructions: budget.instructions ?? DEFAULT_BUDGET.instructions,
    bytes: budget.bytes ?? DEFAULT_BUDGET.bytes,
    reads: budget.reads ?? DEFAULT_BUDGET.reads,
    readBytes: budget.readBytes ?? DEFAULT_BUDGET.readBytes,
    modules: budget.modules ?? DEFAULT_BUDGET.modules,
    moduleBytes: budget.moduleBytes ?? DEFAULT_BUDGET.moduleBytes,
  }
}
