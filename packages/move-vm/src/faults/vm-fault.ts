import type { ComputeTask } from '../compute-task.js'
import { STATUS } from './status.js'

/** Place at which a fault arose. */
export interface FaultPlace {
  /** 64 hex digits. */
  readonly address: string
  readonly module: string
  /** Index of the function in its module; undefined outside of code. */
  readonly functionIndex?: number | undefined
  readonly codeOffset?: number | undefined
}

/**
 * Ends a run with a fault. It is thrown only inside of the vm, and the run turns it into a `ViewFault`. It is not an
 * `Error`: a stack trace costs time, and no one reads this one.
 */
export class VmFault {
  readonly status: number
  readonly message: string | undefined
  readonly subStatus: bigint | undefined
  /** Place of the fault; undefined means the instruction that was running. */
  readonly place: FaultPlace | undefined

  constructor(status: number, message?: string, details: { subStatus?: bigint; place?: FaultPlace } = {}) {
    this.status = status
    this.message = message
    this.subStatus = details.subStatus
    this.place = details.place
  }
}

/** Ends a run with an abort of Move code. */
export class MoveAbort {
  readonly code: bigint
  readonly text: string | undefined
  /** Place of the abort; undefined means the module that was running. */
  readonly place: FaultPlace | undefined

  constructor(code: bigint, text?: string, place?: FaultPlace) {
    this.code = code
    this.text = text
    this.place = place
  }
}

/** Thrown when a read needs a value that is not loaded. The run stops; the same instruction runs again later. */
export class LackingKeys {
  readonly keys: readonly Uint8Array[]

  constructor(keys: readonly Uint8Array[]) {
    this.keys = keys
  }
}

/**
 * Thrown when a native waits for a task that is done elsewhere. The run stops; the same instruction runs again later.
 */
export class PendingTask {
  readonly task: ComputeTask

  constructor(task: ComputeTask) {
    this.task = task
  }
}

/** Thrown when work on types or code takes longer than a turn. The run pauses; the same instruction runs again later. */
export class TurnOver {}

/** Whether an error stops an instruction that runs again later. */
export function isRetried(error: unknown): boolean {
  return error instanceof LackingKeys || error instanceof PendingTask || error instanceof TurnOver
}

/** The fault for an error of JavaScript that malformed code, arguments or modules cause; undefined for other errors. */
export function faultOfError(error: unknown, place?: FaultPlace): VmFault | undefined {
  const isCaused = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError
  if (!isCaused) return undefined
  const details = place === undefined ? {} : { place }
  return new VmFault(STATUS.INTERNAL_TYPE_ERROR, `malformed code or arguments: ${error.message}`, details)
}

/** A fault for code or operands that no verifier accepts. A chain never holds such code; a damaged store may. */
export function malformedCode(why: string): VmFault {
  return new VmFault(STATUS.VERIFICATION_ERROR, `malformed code: ${why}`)
}

/** A fault for values that verified code never makes: a second line of defence behind the verifier. */
export function unverifiedCode(why: string): VmFault {
  return malformedCode(`${UNVERIFIED}${why}`)
}

/** Begins the reasons of such faults. */
const UNVERIFIED = 'at run time, '

export function arithmeticFault(message: string): VmFault {
  return new VmFault(STATUS.ARITHMETIC_ERROR, message)
}
