import { eventually } from '@ledger-state/testing/eventually'
import { describe, expect, it } from 'vitest'
import { fetchAhead } from './fetch-ahead.js'

/** Fetches that end when the test lets them. */
class HeldFetches {
  readonly begun: number[] = []
  readonly #ends = new Map<number, () => void>()

  fetch = async (item: number): Promise<number> => {
    this.begun.push(item)
    await new Promise<void>((resolve) => this.#ends.set(item, resolve))
    return item
  }

  end(item: number): void {
    this.#ends.get(item)!()
  }

  async hasBegun(...items: number[]): Promise<void> {
    await eventually(
      () => this.begun.length === items.length,
      () => `begun: ${this.begun}`,
    )
    expect(this.begun).toEqual(items)
  }
}

async function* numbers(from: number, to: number, failure?: Error): AsyncGenerator<number> {
  for (let number = from; number <= to; number++) yield number
  if (failure) throw failure
}

async function gathered(results: AsyncIterable<number>): Promise<{ taken: number[]; error?: unknown }> {
  const taken: number[] = []
  try {
    for await (const result of results) taken.push(result)
    return { taken }
  } catch (error) {
    return { taken, error }
  }
}

describe('fetchAhead', () => {
  it('gives everything in order', async () => {
    const limits = { atFirst: 3, items: 3, bytes: 100 }
    const found = await gathered(
      fetchAhead(
        numbers(1, 20),
        () => 1,
        async (item) => item * 2,
        limits,
      ),
    )
    expect(found).toEqual({ taken: Array.from({ length: 20 }, (_, at) => 2 * (at + 1)) })
    expect(
      await gathered(
        fetchAhead(
          numbers(1, 0),
          () => 1,
          async (item) => item,
        ),
      ),
    ).toEqual({ taken: [] })
  })

  it('begins as many fetches as there may be, and another for each that is taken', async () => {
    const held = new HeldFetches()
    const results = fetchAhead(numbers(1, 9), () => 1, held.fetch, { atFirst: 3, items: 3, bytes: 100 })
    const first = results.next()
    await held.hasBegun(1, 2, 3)
    held.end(2)
    held.end(1)
    expect(await first).toEqual({ done: false, value: 1 })
    await held.hasBegun(1, 2, 3, 4)
    expect(await results.next()).toEqual({ done: false, value: 2 })
    await held.hasBegun(1, 2, 3, 4, 5)
    await results.return()
  })

  it('begins with few, and has one more under way after each that came, until there are as many as may be', async () => {
    const held = new HeldFetches()
    const results = fetchAhead(numbers(1, 9), () => 1, held.fetch, { atFirst: 1, items: 3, bytes: 100 })
    const first = results.next()
    await held.hasBegun(1)
    held.end(1)
    expect(await first).toEqual({ done: false, value: 1 })
    await held.hasBegun(1, 2, 3)
    // A fetch that has ended still counts until its item is taken.
    held.end(3)
    await held.hasBegun(1, 2, 3, 4)
    held.end(2)
    held.end(4)
    expect(await results.next()).toEqual({ done: false, value: 2 })
    await held.hasBegun(1, 2, 3, 4, 5)
    await results.return()
  })

  it('holds no more bytes than it may, but one item however large', async () => {
    const held = new HeldFetches()
    const sizes = [0, 40, 60, 1, 500, 1]
    const results = fetchAhead(numbers(1, 5), (item) => sizes[item]!, held.fetch, { atFirst: 9, items: 9, bytes: 100 })
    let taken = results.next()
    await held.hasBegun(1, 2)
    held.end(1)
    await taken
    await held.hasBegun(1, 2, 3)
    for (const item of [2, 3]) {
      taken = results.next()
      held.end(item)
      await taken
    }
    await held.hasBegun(1, 2, 3, 4)
    held.end(4)
    await results.next()
    await held.hasBegun(1, 2, 3, 4, 5)
    await results.return()
  })

  it('throws each error in its turn', async () => {
    const failing = async (item: number): Promise<number> => {
      if (item === 4) throw new Error('four')
      return item
    }
    expect(await gathered(fetchAhead(numbers(1, 9), () => 1, failing))).toEqual({
      taken: [1, 2, 3],
      error: new Error('four'),
    })
    const lookUp = numbers(1, 3, new Error('the list'))
    expect(
      await gathered(
        fetchAhead(
          lookUp,
          () => 1,
          async (item) => item,
        ),
      ),
    ).toEqual({
      taken: [1, 2, 3],
      error: new Error('the list'),
    })
  })

  it('looks up nothing more once it is left', async () => {
    const held = new HeldFetches()
    const results = fetchAhead(numbers(1, 9), () => 1, held.fetch, { atFirst: 2, items: 2, bytes: 100 })
    const first = results.next()
    await held.hasBegun(1, 2)
    held.end(1)
    await first
    await results.return()
    held.end(2)
    expect(await results.next()).toEqual({ done: true, value: undefined })
    expect(held.begun.length).toBeLessThanOrEqual(3)
  })
})
