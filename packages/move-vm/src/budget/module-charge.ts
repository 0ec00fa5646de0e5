import type { StepMeter } from './compile-meter.js'
import type { Meter } from './meter.js'

/** Instructions per byte of a module's binary that verifying it may take without being charged. Real modules take at most 2.9. */
export const FREE_WORK_PER_BYTE = 3
/** Heap bytes per byte of a module's binary that the decoded module may hold without being charged. Real modules hold at most 14. */
const FREE_HEAP_PER_BYTE = 16
/** Heap bytes that verifying a module may hold until it ends without being charged. Real modules hold at most 0.6 MB. */
const FREE_HELD_BYTES = 8 << 20

/** Work of verifying any function or constant, in addition to that for its code. Counts towards the turn. */
const PART_WORK = 24

/** Cost of a module for a run that uses it, in addition to its size: beyond the bounds above. */
export interface ModuleCost {
  readonly instructions: number
  readonly bytes: number
}

/** Cost of compiling a function. A run is charged for it at the first call, whichever run compiles the function. */
export interface CompileCost {
  /** Instructions. */
  readonly work: number
  readonly bytes: number
}

/** Charges a run for a module that it loads. A run that finds the module loaded is charged the same: `cost`. */
export class ModuleCharge implements StepMeter {
  readonly #meter: Meter
  readonly #size: number
  #work = 0
  #heldBytes = 0
  #function = { work: 0, bytes: 0 }
  #instructions = 0
  #decodedBytes = 0
  #verifiedBytes = 0

  constructor(meter: Meter, size: number) {
    this.#meter = meter
    this.#size = size
  }

  get cost(): ModuleCost {
    return { instructions: this.#instructions, bytes: this.#decodedBytes + this.#verifiedBytes }
  }

  /** Cost of the function that is being verified. */
  get functionCost(): CompileCost {
    return this.#function
  }

  /** Counts work towards the turn. */
  countWork(work: number): void {
    this.#meter.countWork(work)
  }

  /** Charges the heap bytes of the decoded module. @throws VmFault */
  chargeDecoded(bytes: number): void {
    this.#decodedBytes = Math.max(0, bytes - FREE_HEAP_PER_BYTE * this.#size)
    this.#meter.chargeBytesOnce(this.#decodedBytes)
  }

  /** Begins to verify a function, or a constant. `heldBytes` are those that are kept of the functions before it. */
  beginPart(heldBytes = 0): void {
    this.#heldBytes = heldBytes
    this.#function = { work: 0, bytes: 0 }
    this.#meter.countWork(PART_WORK)
  }

  charge(work: number, bytes: number): void {
    this.#work += work
    this.#function.work += work
    this.#function.bytes += bytes
    this.#meter.countWork(work)
    const instructions = this.#work - FREE_WORK_PER_BYTE * this.#size
    if (instructions > this.#instructions) {
      this.#meter.chargeOnce(instructions - this.#instructions)
      this.#instructions = instructions
    }
    const held = this.#heldBytes + this.#function.bytes - FREE_HELD_BYTES
    if (held > this.#verifiedBytes) {
      this.#meter.chargeBytesOnce(held - this.#verifiedBytes)
      this.#verifiedBytes = held
    }
  }

  expectTurn(): void {
    this.#meter.expectTurn()
  }
}
