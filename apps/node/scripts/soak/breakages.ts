import type { FailedRequest } from '../../testing/fresh-client.ts'
import type { Fault } from './faults.ts'

/** A client may see the end of a connection so much later than it was. */
const LATE_MS = 1_000

interface InflictedFault {
  readonly fault: Fault
  /** Begin in milliseconds of `performance.now`, as is `until`. */
  readonly from: number
  readonly until: number
}

/** The times at which a fault may have broken connections, to tell failures that a fault explains from those that none does. */
export class Breakages {
  readonly #faults: InflictedFault[] = []

  /** @param from when the fault began; it ends now, where the node serves again */
  add(fault: Fault, from: number): void {
    this.#faults.push({ fault, from, until: performance.now() + LATE_MS })
  }

  /** Failures that no fault explains, each with what was before it. */
  unexplained(failures: readonly FailedRequest[]): string[] {
    return failures.filter((one) => !this.#explain(one)).map((one) => this.#describe(one))
  }

  /** Nobody listens only where the whole node was down. */
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
