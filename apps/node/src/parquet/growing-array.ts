const FIRST_LENGTH = 1_024

interface NumberArray {
  [index: number]: number | bigint
  readonly length: number
  set(values: ArrayLike<number | bigint>): void
  subarray(start: number, end: number): this
}

/** Numbers that are appended to a typed array. An array of bigints takes four times as many bytes. */
export class GrowingArray<Values extends NumberArray> {
  readonly #type: new (
    length: number,
  ) => Values
  #values: Values
  #length = 0

  /** @param type class of the typed array */
  constructor(type: new (length: number) => Values) {
    this.#type = type
    this.#values = new type(FIRST_LENGTH)
  }

  get length(): number {
    return this.#length
  }

  push(value: Values[number]): void {
    if (this.#length === this.#values.length) {
      const larger = new this.#type(2 * this.#length)
      larger.set(this.#values)
      this.#values = larger
    }
    this.set(this.#length++, value)
  }

  at(index: number): Values[number] {
    return this.#values[index]!
  }

  set(index: number, value: Values[number]): void {
    const values: NumberArray = this.#values
    values[index] = value
  }

  /** A view of the numbers so far. */
  view(): Values {
    return this.#values.subarray(0, this.#length)
  }
}
