import type { Source } from './table.js'

/** A column, or a relation. */
interface Part<V> {
  read(row: unknown, source: Source): V
}

/**
 * Reads the values of one row after the other, each once, although a document may name a column or a relation hundreds
 * of times: one read of an object takes as long as its resource group is.
 */
export class RowValues {
  readonly #source: Source
  /** The values of the present row and of its related rows. */
  readonly #known = new Map<Part<unknown>, Map<unknown, unknown>>()

  constructor(source: Source) {
    this.#source = source
  }

  /** Goes on to another row, and forgets the values of the last. */
  next(): void {
    this.#known.clear()
  }

  read<V>(part: Part<V>, row: unknown): V {
    const known = this.#known.get(part)
    if (known?.has(row)) return known.get(row) as V
    const value = part.read(row, this.#source)
    if (known) known.set(row, value)
    else this.#known.set(part, new Map([[row, value]]))
    return value
  }
}
