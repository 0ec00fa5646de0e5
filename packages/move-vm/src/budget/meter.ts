import { STATUS } from '../faults/status.js'
import { TurnOver, VmFault } from '../faults/vm-fault.js'
import type { ViewBudget, ViewUsage } from './view-budget.js'

/** Heap bytes of a struct, vector or closure, in addition to its parts; measured on Node 24. */
const CONTAINER_BYTES = 88
/** Heap bytes of a `vector<u8>`, in addition to its content, mostly for its `Uint8Array`. */
const BYTE_VECTOR_BYTES = 264
/** Bytes that a value in a container counts as. */
export const SLOT_BYTES = 8
/** Heap bytes of an address: a text of 64 digits. */
export const ADDRESS_BYTES = 80
/** Heap bytes of a `bigint` in addition to its digits, and of the widest one. */
export const BIGINT_HEAD_BYTES = 16
export const WIDEST_BIGINT_BYTES = 48

/** Heap bytes of a struct, vector or closure with room for this number of parts. */
export function containerBytes(room: number): number {
  return CONTAINER_BYTES + SLOT_BYTES * room
}

/**
 * Most bytes of a `vector<u8>`, and most elements of other vectors: our limits. To grow or to copy one that is larger takes a
 * step of more than 5 ms. The reference's memory quota of 10,000,000 units has room for no more bytes; it counts at least 8
 * for an element of 64 bits, and a stored value has at most 1 MiB.
 */
export const MOST_VECTOR_BYTES = 10_000_000
export const MOST_ELEMENTS = 2 ** 20

/** @throws VmFault if a vector would have more elements than any may have */
export function expectElements(count: number): void {
  if (count > MOST_ELEMENTS) throw new VmFault(STATUS.EXECUTION_LIMIT_REACHED)
}

/** @throws VmFault if a `vector<u8>` would have more bytes than any may have */
export function expectVectorBytes(length: number): void {
  if (length > MOST_VECTOR_BYTES) throw new VmFault(STATUS.EXECUTION_LIMIT_REACHED)
}

/** The charges for some modules. */
export type ModulesUsage = Omit<ViewUsage, 'reads' | 'readBytes'>

/**
 * Counts the used part of a run's budget. `mark` and `undo` refund the charges of an instruction that must run again.
 */
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
  /** Work on types and code that is left for this turn. */
  #turnLeft = Number.POSITIVE_INFINITY

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
   * Charges `count` instructions. A charge above the budget takes the rest of it.
   * @throws VmFault
   */
  chargeInstructions(count: number): void {
    const left = Math.max(0, this.instructionsLeft)
    if (count <= left) this.charged += count
    else {
      this.charged += left
      throw new VmFault(STATUS.EXECUTION_LIMIT_REACHED)
    }
  }

  /** Charges work that a run does once, whichever attempt of an instruction does it: `undo` does not refund it. */
  chargeOnce(count: number): void {
    this.#markedCharged += count
    this.chargeInstructions(count)
  }

  /** Charges bytes that a run takes once: see `chargeOnce`. */
  chargeBytesOnce(count: number): void {
    this.#markedBytes += count
    this.chargeBytes(count)
  }

  /** Instructions that were charged since `mark` and that `undo` gives back. */
  get unkeptInstructions(): number {
    return this.charged - this.#markedCharged
  }

  /** Bytes that were charged since `mark` and that `undo` gives back. */
  get unkeptBytes(): number {
    return this.bytes - this.#markedBytes
  }

  /** Makes charges since `mark` charges that a run makes once. */
  keep(instructions: number, bytes: number): void {
    this.#markedCharged += instructions
    this.#markedBytes += bytes
  }

  /** Begins a turn, in which work on types and code may take as long as `work` instructions. */
  beginTurn(work: number): void {
    this.#turnLeft = Math.max(work, 1)
  }

  /** Counts work on types and code towards the turn. */
  countWork(work: number): void {
    this.#turnLeft -= work
  }

  /**
   * Called between steps with kept results, so that a repeated step continues.
   * @throws TurnOver if the turn is over
   */
  expectTurn(): void {
    if (this.#turnLeft <= 0) throw new TurnOver()
  }

  /**
   * Charges bytes that are copied, compared or allocated. A charge above the budget takes the rest of it.
   * @throws VmFault
   */
  chargeBytes(count: number): void {
    const used = this.bytes + count
    if (used <= this.#budget.bytes) this.bytes = used
    else {
      this.bytes = this.#budget.bytes
      throw new VmFault(STATUS.EXECUTION_LIMIT_REACHED)
    }
  }

  /**
   * Charges the bytes of a container with `parts` parts, and room for more.
   * @throws VmFault
   */
  chargeContainer(parts: number, room = parts): void {
    expectElements(parts)
    this.chargeBytes(containerBytes(room))
  }

  /**
   * Charges the integers among values that are put into containers and do not fit into a slot.
   * @throws VmFault
   */
  chargeWideValues(values: readonly unknown[]): void {
    for (const value of values) if (typeof value === 'bigint') this.chargeBytes(WIDEST_BIGINT_BYTES)
  }

  /**
   * Charges a new `vector<u8>` with its content.
   * @throws VmFault
   */
  chargeByteVector(length: number): void {
    expectVectorBytes(length)
    this.chargeBytes(BYTE_VECTOR_BYTES + length)
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

  /** Whether the budget is enough for more work, and for modules in addition. */
  hasRoomFor(work: number, bytes: number, modules: ModulesUsage): boolean {
    const budget = this.#budget
    return (
      work + modules.instructions <= this.instructionsLeft &&
      this.bytes + bytes + modules.bytes <= budget.bytes &&
      this.#modules + modules.modules <= budget.modules &&
      this.#moduleBytes + modules.moduleBytes <= budget.moduleBytes
    )
  }

  /** Begins a step that may have to run again. A run counts each read once, whichever attempt made it. */
  mark(): void {
    this.#markedBytes = this.bytes
    this.#markedCharged = this.charged
  }

  /** Refunds the charges since `mark`. */
  undo(): void {
    this.bytes = this.#markedBytes
    this.charged = this.#markedCharged
  }
}
