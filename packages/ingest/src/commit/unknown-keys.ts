import type { ValuesBefore } from './values-before.js'

/** Keys with values that are not known before they are loaded, and the places of what is read in these. */
export class UnknownKeys {
  #keys: Uint8Array[] = []
  #places: number[] = []
  /** Number of the first value. */
  #first = 0

  add(key: Uint8Array, place: number): void {
    this.#keys.push(key)
    this.#places.push(place)
  }

  /** Asks for the values of all keys. */
  ask(before: ValuesBefore): void {
    this.#first = before.ask(this.#keys)
  }

  /** Passes on the values that the store has, and forgets the keys. */
  take(before: ValuesBefore, read: (value: Uint8Array, place: number) => void): void {
    for (let at = 0; at < this.#places.length; at++) {
      const value = before.at(this.#first + at)
      if (value) read(value, this.#places[at]!)
    }
    this.#keys = []
    this.#places = []
  }
}
