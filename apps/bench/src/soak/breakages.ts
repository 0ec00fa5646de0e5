import type { FailedRequest } from 'ledger-state/testing/fresh-client'
import type { Fault } from './faults.ts'

/** Time by which a client may notice the end of a connection too late. */
const LATE_MS = 1_000

interface InflictedFault {
  readonly fault: Fault
  /** Begin in milliseconds of `performance.now`, as is `until`. */
  readonly from: number
  readonly until: number
}

/** Times at which a fault may have broken connections. They separate failures that a fault explains from others. */
export class Breakages {
  readonly #faults: InflictedFault[] = []

  /**
   * Adds a fault that began at a time and ends now, as the node serves again.
   * @param from begin of the fault
   */
  add(fault: Fault, from: number): void {
    this.#faults.push({ fault, from, until: performance.now() + LATE_MS })
  }

  /** Failures that no fault explains, each with the events before it. */
  unexplained(failures: readonly FailedRequest[]): string[] {
    return failures.filter((one) => !this.#explain(one)).map((one) => this.#describe(one))
  }

  /** Whether a fault explains a failure. Only while the whole node is down does nothing listen. */
  #explain({ outcome, began, ended }: FailedRequest): boolean {
    const isRefused = outcome.includes('ECONNREFUSED')
    return this.#faults.some(
      ({ fault: { breaks }, from, until }) =>
        began <= until && ended >= from && (breaks === 'node' || (breaks === 'reader' && !isRefused)),
    )
  }

  #describe({ outcome, began, ended }: FailedRequest): string {
    const last = this.#faults.findLast(({ from }) => from <= ended)
    const seconds = (from: number, until: number): string => ((until - from) / 1_000).toFixed(1)
    const before = last ? `, ${seconds(last.from, ended)} s after the fault ‘${last.fault.name}’ began` : ''
    return `${outcome} after ${seconds(began, ended)} s${before}`
  }
}
