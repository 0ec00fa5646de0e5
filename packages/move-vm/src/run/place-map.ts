/** Most places that are compared one by one. */
const MOST_COMPARED = 8

interface Place<Kind, Value> {
  readonly kind: Kind
  readonly address: string
  readonly value: Value
}

/**
 * Values by the kind of a place and its address. The first ones are compared one by one, which is faster than to make
 * maps: most runs look at a few places.
 */
export class PlaceMap<Kind, Value> {
  readonly #few: Place<Kind, Value>[] = []
  #others: Map<Kind, Map<string, Value>> | undefined

  get(kind: Kind, address: string): Value | undefined {
    for (const place of this.#few) if (place.kind === kind && place.address === address) return place.value
    return this.#others?.get(kind)?.get(address)
  }

  /** Adds a value at a place that has none. */
  add(kind: Kind, address: string, value: Value): void {
    if (this.#few.length < MOST_COMPARED) this.#few.push({ kind, address, value })
    else this.#addOther(kind, address, value)
  }

  #addOther(kind: Kind, address: string, value: Value): void {
    this.#others ??= new Map()
    const known = this.#others.get(kind)
    if (known) known.set(address, value)
    else this.#others.set(kind, new Map([[address, value]]))
  }
}
