import { TURN_BUDGET_MS } from '../operations/operation.js'

/** Work outside of the queue that takes less does not count: most reads take a tenth of this, and telling of them costs more. */
const LEAST_TOLD_MS = 0.1

interface Waiting {
  readonly work: () => void
  /** Whether what is done runs after the call, in a promise: its time is not known then, and the turn ends with it. */
  readonly isResumption: boolean
}

/**
 * Deals out turns of the event loop to work that may take long, in the order in which it came. What is begun in one turn
 * ends when the budget of the turn is used up. Small requests are answered between turns, so they wait for one of them.
 */
export class TurnQueue {
  readonly #waiting: Waiting[] = []
  #isScheduled = false
  /** What work outside of the queue has taken of this turn. */
  #spentMs = 0

  /** Whether work outside of the queue has used up its part of this turn. */
  get isSpent(): boolean {
    return this.#spentMs >= TURN_BUDGET_MS
  }

  /** Tells of work that was done at once. */
  spend(milliseconds: number): void {
    if (milliseconds < LEAST_TOLD_MS) return
    this.#spentMs += milliseconds
    this.#schedule()
  }

  /** Runs the work in a turn to come. */
  run(work: () => void): void {
    this.#add({ work, isResumption: false })
  }

  /** Lets work that waits for it continue in a turn to come. */
  resume(work: () => void): void {
    this.#add({ work, isResumption: true })
  }

  #add(waiting: Waiting): void {
    this.#waiting.push(waiting)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#runTurn)
  }

  readonly #runTurn = (): void => {
    this.#isScheduled = false
    this.#spentMs = 0
    const endsAt = performance.now() + TURN_BUDGET_MS
    try {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
        next.work()
        if (next.isResumption || performance.now() >= endsAt) break
      }
    } finally {
      if (this.#waiting.length > 0) this.#schedule()
    }
  }
}
