/**
 * Time for which one request may hold the event loop while others wait. Reading the sockets between two turns takes a
 * few hundredths of it.
 */
export const TURN_BUDGET_MS = 1

/** Size up to which a request is answered at once. The work on longer requests waits for its turn. */
export const SMALL_REQUEST_BYTES = 2_048

/**
 * Least time of work outside of the queue that is counted. Most reads take a tenth of this, and counting them would
 * cost more.
 */
const LEAST_COUNTED_MS = 0.1

/** Least time that resumed work has in a turn, in milliseconds, however much of the turn small work took. */
const LEAST_SHARE_MS = TURN_BUDGET_MS / 4

/** Time for which work may hold the event loop. */
export interface Turn {
  readonly isSpent: boolean
  /**
   * Lets other requests have a turn.
   * @throws `client_left`
   */
  nextTurn(): Promise<void>
}

/** Facts about a request that decide when the work on it begins. */
export interface RequestSize {
  readonly bytes: number
  /** Whether it may take more than a turn, however few bytes it has. */
  readonly takesTurns: boolean | undefined
  /** Time at which everything that the work needs was present, in milliseconds of `performance.now`. */
  readonly readyAt: number
}

interface Waiting {
  readonly work: (milliseconds: number) => void
  /** Whether the work runs in a promise after the call. Its time cannot be measured, so the turn ends with it. */
  readonly isResumption: boolean
}

/**
 * Gives turns of the event loop to work that may take long, in the order of arrival. Between two turns the event loop
 * reads all sockets and answers small requests, so these wait for at most one turn. Their time is deducted from the
 * next turn.
 */
export class TurnQueue {
  /** Small work, which runs before all work that may take long. */
  readonly #small: (() => void)[] = []
  readonly #waiting: Waiting[] = []
  #isScheduled = false
  /** Time of this turn that work outside of the queue has taken. */
  #spentMs = 0

  /**
   * Begins the work on a request: at once if the request is small and this turn has time left, otherwise in a later
   * turn. Returns the result of work that began at once, otherwise a promise of it.
   */
  begin<S, T>({ bytes, takesTurns, readyAt }: RequestSize, work: (on: S) => T, on: S): T | Promise<Awaited<T>> {
    const mayTakeLong = takesTurns || bytes > SMALL_REQUEST_BYTES
    if (mayTakeLong || this.isSpent) return this.#beginLater(mayTakeLong, work, on)
    try {
      return work(on)
    } finally {
      this.spend(performance.now() - readyAt)
    }
  }

  #beginLater<S, T>(mayTakeLong: boolean, work: (on: S) => T, on: S): Promise<Awaited<T>> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        try {
          resolve(work(on) as Awaited<T>)
        } catch (error) {
          reject(error)
        }
      }
      if (mayTakeLong) this.run(begin)
      else this.runSmall(begin)
    })
  }

  /** Whether work outside of the queue has used up its part of this turn. */
  get isSpent(): boolean {
    return this.#spentMs >= TURN_BUDGET_MS
  }

  /** Counts the time of work that was done at once, outside of the queue. */
  spend(milliseconds: number): void {
    if (milliseconds < LEAST_COUNTED_MS) return
    this.#spentMs += milliseconds
    this.#schedule()
  }

  /** Runs small work in the next turn, before all work that may take long. */
  runSmall(work: () => void): void {
    this.#small.push(work)
    this.#schedule()
  }

  /** Runs the work in a later turn. */
  run(work: () => void): void {
    this.#add({ work, isResumption: false })
  }

  /** Lets other work run. Resolves in a later turn, with the milliseconds that are left of that turn. */
  nextTurn(): Promise<number> {
    return new Promise((resolve) => this.#add({ work: resolve, isResumption: true }))
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

  /**
   * Runs at least one piece of small work, and one that may take long. A resumed piece gets the rest of its turn, and
   * runs only if no other piece that may take long ran before it in the turn.
   */
  readonly #runTurn = (): void => {
    this.#isScheduled = false
    const endsAt = performance.now() + TURN_BUDGET_MS - this.#spentMs
    this.#spentMs = 0
    let isFirst = true
    try {
      for (let work = this.#small.shift(); work; work = this.#small.shift()) {
        work()
        if (performance.now() >= endsAt) break
      }
      while (this.#waiting.length > 0 && (isFirst || !this.#waiting[0]!.isResumption)) {
        const { work, isResumption } = this.#waiting.shift()!
        isFirst = false
        work(Math.max(LEAST_SHARE_MS, endsAt - performance.now()))
        if (isResumption || performance.now() >= endsAt) break
      }
    } finally {
      if (this.#waiting.length > 0 || this.#small.length > 0) this.#schedule()
    }
  }
}
