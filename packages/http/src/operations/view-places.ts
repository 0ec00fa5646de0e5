/** Number of views that take more than a turn and have begun. The budgets of views so bound their memory. */
export const PLACES = 4

/**
 * Turns that a view has before another one runs; about as many as the most expensive view takes. Values that are alive
 * when V8 collects its young generation, after some 15 turns of large copies, move to the old one. With another view in
 * each turn, the last copies of all views were alive, and collecting the old generation stopped the reader twice a
 * second for 15 ms and more.
 */
export const TURNS_IN_A_ROW = 128

/** A place of a long view. */
export interface ViewPlace {
  /** Resolves when this view may take a turn. Call it before each turn. */
  run(): Promise<void>
  /** Lets others run while this view waits for something other than a turn. */
  rest(): void
  /** Gives the place to the next long view. */
  leave(): void
}

/**
 * Lets a fixed number of long views begin; others wait in the order in which they came. Views that have begun run one
 * at a time, several turns in a row each.
 */
export class ViewPlaces {
  #taken = 0
  readonly #waiting: (() => void)[] = []
  #running: Place | undefined
  /** Places that wait to run, each with the function that ends its wait. */
  readonly #queue: { readonly place: Place; readonly resolve: () => void }[] = []

  async take(): Promise<ViewPlace> {
    if (this.#taken < PLACES) this.#taken++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return new Place(this)
  }

  async run(place: Place): Promise<void> {
    if (this.#running === place) {
      if (this.#queue.length === 0 || --place.turnsLeft > 0) return
      this.stop(place)
    }
    if (this.#running) await new Promise<void>((resolve) => this.#queue.push({ place, resolve }))
    else this.#start(place)
  }

  stop(place: Place): void {
    if (this.#running !== place) return
    this.#running = undefined
    const next = this.#queue.shift()
    if (!next) return
    this.#start(next.place)
    next.resolve()
  }

  leave(place: Place): void {
    this.stop(place)
    const next = this.#waiting.shift()
    if (next) next()
    else this.#taken--
  }

  #start(place: Place): void {
    this.#running = place
    place.turnsLeft = TURNS_IN_A_ROW
  }
}

class Place implements ViewPlace {
  readonly #places: ViewPlaces
  turnsLeft = 0

  constructor(places: ViewPlaces) {
    this.#places = places
  }

  run(): Promise<void> {
    return this.#places.run(this)
  }

  rest(): void {
    this.#places.stop(this)
  }

  leave(): void {
    this.#places.leave(this)
  }
}
