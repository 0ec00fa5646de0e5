import { STATUS } from '../faults/status.js'
import { VmFault } from '../faults/vm-fault.js'
import type { ViewBudget, ViewUsage } from './view-budget.js'

/** Bytes that a container (struct, vector, closure) counts as, in addition to its parts. */
const CONTAINER_BYTES = 40
/** Bytes that a value in a container counts as. */
const SLOT_BYTES = 8

/** What is left of the budget of a run. What a restarted instruction used is given back: see `mark` and `undo`. */
export class Meter {
  readonly #budget: ViewBudget
  /** Instructions that natives and links were charged since the interpreter last took them. */
  charged = 0
  /** Instructions used before those, as the interpreter counted them. */
  instructions = 0
  /** Bytes that were copied, compared, made. */
  bytes = 0
  #reads = 0
  #readBytes = 0
  #modules = 0
  #moduleBytes = 0
  #markedBytes = 0
  #markedCharged = 0

  constructor(budget: ViewBudget) {
    this.#budget = budget
  }

  get usage(): ViewUsage {
    return {
      instructions: this.instructions + this.charged,
      bytes: this.bytes,
      reads: this.#reads,
      readBytes: this.#readBytes,
      modules: this.#modules,
      moduleBytes: this.#moduleBytes,
    }
  }

  /** Instructions that are left. */
  get instructionsLeft(): number {
    return this.#budget.instructions - this.instructions - this.charged
  }

  /** Counts what was charged as instructions that were used. */
  takeCharged(): void {
    this.instructions += this.charged
    this.charged = 0
  }

  /** Counts work as a number of instructions; what exceeds the budget is not used. @throws VmFault */
  chargeInstructions(count: number): void {
    const left = Math.max(0, this.instructionsLeft)
    this.charged += Math.min(count, left)
    if (count > left) throw new VmFault(STATUS.EXECUTION_LIMIT_REACHED)
  }

  /**
   * Same as `chargeInstructions`, for what a run does once, whichever attempt of an instruction did it: `undo` keeps
   * it.
   */
  chargeOnce(count: number): void {
    this.#markedCharged += count
    this.chargeInstructions(count)
  }

  /** Counts bytes that are copied, compared, made; what the budget has not is not used. @throws VmFault */
  chargeBytes(count: number): void {
    const used = this.bytes + count
    this.bytes = Math.min(used, this.#budget.bytes)
    if (used > this.#budget.bytes) throw new VmFault(STATUS.EXECUTION_LIMIT_REACHED)
  }

  /** Counts a container by its parts. @throws VmFault */
  chargeContainer(parts: number): void {
    this.chargeBytes(CONTAINER_BYTES + SLOT_BYTES * parts)
  }

  /** @throws VmFault */
  chargeRead(bytes: number): void {
    this.#reads++
    this.#readBytes += bytes
    if (this.#reads > this.#budget.reads || this.#readBytes > this.#budget.readBytes) {
      throw new VmFault(STATUS.IO_LIMIT_REACHED)
    }
  }

  /** @throws VmFault */
  chargeModule(bytes: number): void {
    this.#modules++
    this.#moduleBytes += bytes
    if (this.#modules > this.#budget.modules || this.#moduleBytes > this.#budget.moduleBytes) {
      throw new VmFault(STATUS.DEPENDENCY_LIMIT_REACHED)
    }
  }

  /** Begins a step that may run again from its beginning. Reads are counted once in a run, whichever attempt made them. */
  mark(): void {
    this.#markedBytes = this.bytes
    this.#markedCharged = this.charged
  }

  /** Gives back what was charged since `mark`. */
  undo(): void {
    this.bytes = this.#markedBytes
    this.charged = this.#markedCharged
  }
}
