import { STATUS } from '../faults/status.js'
import { VmFault } from '../faults/vm-fault.js'
import type { ViewBudget, ViewUsage } from './view-budget.js'

/** Bytes that a container (struct, vector, closure) counts as, in addition to its parts. */
const CONTAINER_BYTES = 40
/** Bytes that a value in a container counts as. */
const SLOT_BYTES = 8

/** Counts what a run uses of its budget. `mark` and `undo` give back what an instruction used that has to run again. */
export class Meter {
  readonly #budget: ViewBudget
  /** Instructions charged by natives and links that the interpreter has not yet taken over. */
  charged = 0
  /** Instructions that the interpreter has counted; `charged` comes in addition. */
  instructions = 0
  /** Bytes that were copied, compared or allocated. */
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

  /** Moves `charged` into `instructions`. */
  takeCharged(): void {
    this.instructions += this.charged
    this.charged = 0
  }

  /**
   * Charges `count` instructions. A charge above the budget takes what is left of it.
   * @throws VmFault
   */
  chargeInstructions(count: number): void {
    const left = Math.max(0, this.instructionsLeft)
    this.charged += Math.min(count, left)
    if (count > left) throw new VmFault(STATUS.EXECUTION_LIMIT_REACHED)
  }

  /** Charges what a run does once, whichever attempt of an instruction does it: `undo` does not give it back. */
  chargeOnce(count: number): void {
    this.#markedCharged += count
    this.chargeInstructions(count)
  }

  /**
   * Charges bytes that are copied, compared or allocated. A charge above the budget takes what is left of it.
   * @throws VmFault
   */
  chargeBytes(count: number): void {
    const used = this.bytes + count
    this.bytes = Math.min(used, this.#budget.bytes)
    if (used > this.#budget.bytes) throw new VmFault(STATUS.EXECUTION_LIMIT_REACHED)
  }

  /**
   * Charges the bytes of a container with `parts` parts.
   * @throws VmFault
   */
  chargeContainer(parts: number): void {
    this.chargeBytes(CONTAINER_BYTES + SLOT_BYTES * parts)
  }

  /**
   * Charges one read of a state value of `bytes` bytes.
   * @throws VmFault
   */
  chargeRead(bytes: number): void {
    this.#reads++
    this.#readBytes += bytes
    if (this.#reads > this.#budget.reads || this.#readBytes > this.#budget.readBytes) {
      throw new VmFault(STATUS.IO_LIMIT_REACHED)
    }
  }

  /**
   * Charges one module of `bytes` bytes.
   * @throws VmFault
   */
  chargeModule(bytes: number): void {
    this.#modules++
    this.#moduleBytes += bytes
    if (this.#modules > this.#budget.modules || this.#moduleBytes > this.#budget.moduleBytes) {
      throw new VmFault(STATUS.DEPENDENCY_LIMIT_REACHED)
    }
  }

  /** Begins a step that may have to run again. A run counts each read once, whichever attempt made it. */
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
