/** Number of views that take more than a turn and have begun. */
export const PLACES = 4

/**
 * Bytes that all views which have begun may be charged together. Above, only the oldest one continues. So they never
 * hold more than this and the budget of one view.
 */
export const SHARED_BYTES = 64 << 20

/**
 * Turns that a view has before another one runs; about as many as the most expensive view takes. Values that are alive
 * when V8 collects its young generation, after about 15 turns of large copies, move to the old one. With another view
 * in each turn, the last copies of all views were alive, and collecting the old generation stopped the reader twice a
 * second for 15 ms and more.
 */
export const TURNS_IN_A_ROW = 128

/** A place of a long view. */
export interface ViewPlace {
  /** Resolves when this view, which was charged `bytes` so far, may take a turn. Call it before each turn. */
  run(bytes: number): Promise<void>
  /** Lets others run while this view waits for something other than a turn. */
  rest(): void
  /** Gives the place to the next long view. */
  leave(): void
}

/**
 * Lets a fixed number of long views begin; others wait in order of arrival. Views that have begun run one at a time,
 * several turns in a row each.
 */
export class ViewPlaces {
  readonly #waiting: (() => void)[] = []
  /** Places that are promised to views which have waited for one. */
  #promised = 0
  /** Places that are taken, the oldest first. */
  readonly #taken: Place[] = []
  #running: Place | undefined
  /** Places that wait to run, each with the function that ends its wait. */
  readonly #queue: { readonly place: Place; readonly resolve: () => void }[] = []

  /** Whether a view that takes a place now has to wait. */
  get areTaken(): boolean {
    return this.#taken.length + this.#promised >= PLACES
  }

  async take(): Promise<ViewPlace> {
    if (this.areTaken) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
      this.#promised--
    }
    const place = new Place(this)
    this.#taken.push(place)
    return place
  }

  async run(place: Place): Promise<void> {
    if (this.#running === place) {
      if (this.#mayRun(place) && (this.#queue.length === 0 || --place.turnsLeft > 0)) return
      this.#running = undefined
    }
    const turn = new Promise<void>((resolve) => this.#queue.push({ place, resolve }))
    this.#startNext()
    await turn
  }

  stop(place: Place): void {
    if (this.#running !== place) return
    this.#running = undefined
    this.#startNext()
  }

  leave(place: Place): void {
    if (this.#running === place) this.#running = undefined
    this.#taken.splice(this.#taken.indexOf(place), 1)
    const next = this.#waiting.shift()
    if (next) {
      this.#promised++
      next()
    }
    this.#startNext()
  }

  #mayRun(place: Place): boolean {
    if (place === this.#taken[0]) return true
    let bytes = 0
    for (const one of this.#taken) bytes += one.bytes
    return bytes < SHARED_BYTES
  }

  /** If no place runs, starts the first one in the queue that may run. */
  #startNext(): void {
    if (this.#running) return
    const at = this.#queue.findIndex(({ place }) => this.#mayRun(place))
    if (at < 0) return
    const [next] = this.#queue.splice(at, 1)
    this.#running = next!.place
    next!.place.turnsLeft = TURNS_IN_A_ROW
    next!.resolve()
  }
}

class Place implements ViewPlace {
  readonly #places: ViewPlaces
  turnsLeft = 0
  bytes = 0

  constructor(places: ViewPlaces) {
    this.#places = places
  }

  run(bytes: number): Promise<void> {
    this.bytes = bytes
    return this.#places.run(this)
  }

  rest(): void {
    this.#places.stop(this)
  }

  leave(): void {
    this.#places.leave(this)
  }
}
