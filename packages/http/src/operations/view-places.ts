/** Views that take more than a turn, at one time: what they hold of memory is bounded by their budgets. */
export const PLACES = 4

/** Lets a fixed number of long views run at a time, in turns; the others wait in the order in which they came. */
export class ViewPlaces {
  #taken = 0
  readonly #waiting: (() => void)[] = []

  /** Resolves with a function that leaves the place. */
  async take(): Promise<() => void> {
    if (this.#taken < PLACES) this.#taken++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return this.#leave
  }

  readonly #leave = (): void => {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#taken--
  }
}
