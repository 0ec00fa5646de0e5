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
 * The end of a run by a fault. It is thrown inside of the vm alone and is not an `Error`, since nobody reads a stack of ours: the
 * run turns it into a `ViewFault`.
 */
export class VmFault {
  readonly status: number
  readonly message: string | undefined
  readonly subStatus: bigint | undefined
  /** Undefined: the instruction that was running. */
  readonly place: FaultPlace | undefined

  constructor(status: number, message?: string, details: { subStatus?: bigint; place?: FaultPlace } = {}) {
    this.status = status
    this.message = message
    this.subStatus = details.subStatus
    this.place = details.place
  }
}

/** The end of a run by an abort of Move code. */
export class MoveAbort {
  readonly code: bigint
  readonly text: string | undefined
  /** Undefined: the module that was running. */
  readonly place: FaultPlace | undefined

  constructor(code: bigint, text?: string, place?: FaultPlace) {
    this.code = code
    this.text = text
    this.place = place
  }
}

/** Thrown where a read has no answer yet: the run stops at the same instruction. */
export class LackingKeys {
  readonly keys: readonly Uint8Array[]

  constructor(keys: readonly Uint8Array[]) {
    this.keys = keys
  }
}

/** Thrown where a native waits for a task that is done elsewhere: the run stops at the same instruction. */
export class PendingTask {
  readonly task: ComputeTask

  constructor(task: ComputeTask) {
    this.task = task
  }
}

/** Code, or an operand of it, that no verifier lets pass: a chain holds none, a damaged store may. */
export function malformedCode(why: string): VmFault {
  return new VmFault(STATUS.VERIFICATION_ERROR, `malformed code: ${why}`)
}

export function arithmeticFault(message: string): VmFault {
  return new VmFault(STATUS.ARITHMETIC_ERROR, message)
}
