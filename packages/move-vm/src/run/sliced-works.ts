import type { Meter } from '../budget/meter.js'
import { SLICE_WORK, type SlicedWork } from '../sliced-work.js'

interface BegunWork {
  readonly work: SlicedWork<unknown>
  end: { readonly result: unknown } | undefined
}

/**
 * Long work of one step of a run. If the turn ends on the way, the step runs again from its beginning and asks for the
 * same works in the same order; each then continues, or is known. Work of one slice is done again.
 */
export class SlicedWorks {
  readonly #meter: Meter
  readonly #begun: (BegunWork | undefined)[] = []
  #next = 0

  constructor(meter: Meter) {
    this.#meter = meter
  }

  /** Whether the step has begun work that took more than a slice. */
  get isUnfinished(): boolean {
    return this.#begun.length > 0
  }

  /** Runs the step from its beginning, for the first time or again. */
  restart(): void {
    this.#next = 0
  }

  /** Ends the step. */
  clear(): void {
    this.#next = 0
    if (this.#begun.length > 0) this.#begun.length = 0
  }

  /**
   * Does work. `begin` charges nothing, or charges once for each run: it does not run again with the step.
   * @throws VmFault, TurnOver
   */
  do<T>(begin: () => SlicedWork<T>): T {
    const index = this.#next++
    const known = this.#begun[index]
    if (known?.end) return known.end.result as T
    const meter = this.#meter
    const work = (known?.work ?? begin()) as SlicedWork<T>
    for (let isBegun = known !== undefined; ; isBegun = true) {
      if (isBegun) meter.expectTurn()
      const { unkeptInstructions, unkeptBytes } = meter
      const end = work.continue()
      if (end && !isBegun) return end.result
      meter.keep(meter.unkeptInstructions - unkeptInstructions, meter.unkeptBytes - unkeptBytes)
      meter.countWork(SLICE_WORK)
      this.#begun[index] = { work, end }
      if (end) return end.result
    }
  }
}
