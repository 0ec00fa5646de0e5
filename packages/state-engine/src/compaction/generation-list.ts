import type { RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { type Generation, listGenerationsBack, putGeneration } from '../records/generations.js'

interface Numbered {
  readonly number: number
  generation: Generation
  isChanged: boolean
}

/**
 * The generations with values that are seen above a version. A truncation takes these values out of them, in the write
 * transaction of the caller.
 */
export class GenerationList {
  readonly #store: LmdbStore
  readonly #builder: RecordBuilder
  readonly #all: Numbered[]

  constructor(store: LmdbStore, builder: RecordBuilder, nextGeneration: number, version: bigint) {
    this.#store = store
    this.#builder = builder
    this.#all = []
    for (const { number, generation } of listGenerationsBack(store, nextGeneration)) {
      if (generation.upTo <= version) break
      this.#all.unshift({ number, generation, isChanged: false })
    }
  }

  /** Subtracts superseded values from the generation that wrote a record of the history log. */
  take(number: number, pairs: number, payloadBytes: number): void {
    const found = this.#all[this.#countFrom(number) - 1]
    if (!found) return
    const { generation } = found
    found.generation = {
      ...generation,
      pairs: generation.pairs - pairs,
      payloadBytes: generation.payloadBytes - payloadBytes,
    }
    found.isChanged = true
  }

  /** Declares that no generation has anything that a version above the given one sees. */
  endAt(version: bigint): void {
    for (const one of this.#all) {
      one.generation = { ...one.generation, upTo: version }
      one.isChanged = true
    }
  }

  put(): void {
    for (const { number, generation, isChanged } of this.#all) {
      if (isChanged) putGeneration(this.#store, this.#builder, number, generation)
    }
  }

  /** Number of generations that begin at or below a record of the history log. */
  #countFrom(number: number): number {
    let least = 0
    let most = this.#all.length
    while (least < most) {
      const middle = (least + most) >> 1
      if (this.#all[middle]!.generation.firstNumber <= number) least = middle + 1
      else most = middle
    }
    return least
  }
}
