import type { StepMeter } from '../budget/compile-meter.js'
import { STATUS } from '../faults/status.js'
import { malformedCode, VmFault } from '../faults/vm-fault.js'

/** Most units that the reference spends on a function, and on a module: it refuses code that needs more. */
const MOST_UNITS = 80_000_000
/** Most references and edges of a borrow graph: our limit. The functions of a genesis have at most 20. */
const MOST_ITEMS = 512
/** Most of them that are kept at once, about 10 MB: our limit. The functions of a genesis need at most 638. */
const MOST_KEPT = 65_536
/** Work after which a pass should yield, far less than a turn. */
const WORK_OF_STEP = 256

/** Units of all functions of a module, as the reference counts them. */
export class UnitLimit {
  #units = 0

  /** @throws VmFault if the module is too complex */
  add(units: number): void {
    this.#units += units
    if (this.#units > MOST_UNITS) throw malformedCode('a module that is too complex')
  }
}

/** Work of a block, in addition to that for its code: see `countBlock`. */
const BLOCK_WORK = 16

/** Counts the cost of verifying one function: units of its module, and work of ours. */
export class VerifierMeter {
  readonly #meter: StepMeter
  readonly #units: UnitLimit
  #kept = 0
  #worked = 0

  constructor(meter: StepMeter, units: UnitLimit) {
    this.#meter = meter
    this.#units = units
  }

  /** @throws VmFault if the module is too complex */
  addUnits(units: number): void {
    this.#units.add(units)
  }

  /** Charges work in instructions, before it is done. @throws VmFault if the budget is exhausted */
  charge(work: number): void {
    this.#worked += work
    this.#meter.charge(work, 0)
  }

  /** Counts a block towards the step, whose work is then bounded even if its blocks are charged nothing. */
  countBlock(): void {
    this.#worked += BLOCK_WORK
  }

  /** Counts items that are kept until the end of a pass, before they are made. @throws VmFault */
  keep(items: number): void {
    this.#kept += items
    if (this.#kept > MOST_KEPT) throw new VmFault(STATUS.EXECUTION_LIMIT_REACHED)
  }

  /** Expects that a borrow graph is not too large: the longest operation takes the square of its size. @throws VmFault */
  expectSmall(items: number): void {
    if (items > MOST_ITEMS) throw new VmFault(STATUS.EXECUTION_LIMIT_REACHED)
  }

  /** Whether the pass should yield. */
  isStepOver(): boolean {
    if (this.#worked < WORK_OF_STEP) return false
    this.#worked = 0
    return true
  }
}
