import type { StepMeter } from '../budget/compile-meter.js'
import type { Meter } from '../budget/meter.js'

/** Charges a run for compiling a function, and adds up the costs. */
export class CompileCharge implements StepMeter {
  readonly #meter: Meter
  work = 0
  bytes = 0

  constructor(meter: Meter) {
    this.#meter = meter
  }

  charge(work: number, bytes: number): void {
    this.work += work
    this.bytes += bytes
    this.#meter.countWork(work)
    this.#meter.chargeOnce(work)
    this.#meter.chargeBytesOnce(bytes)
  }

  expectTurn(): void {
    this.#meter.expectTurn()
  }
}
