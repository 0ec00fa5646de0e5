import type { HoldingsPage, HoldingsPageOptions } from '@ledger-state/ledger'
import { addressOf } from '../columns.js'
import type { Rows } from '../table.js'

/** All items of a list, page after page. */
export function* allPages<T>(list: (options: HoldingsPageOptions) => HoldingsPage<T>): Generator<T | undefined> {
  let start: Uint8Array | undefined
  do {
    const page = list({ start })
    yield* page
    start = page.cursor
  } while (start)
}

/** The rows of several values of a filter, without those that are no value. */
export function* rowsOfEach<V, R>(
  values: Iterable<V | undefined>,
  rowsOf: (value: V) => Rows<R>,
): Generator<R | undefined> {
  for (const value of values) if (value !== undefined) yield* rowsOf(value)
}

/** The addresses in a filter, each once. */
export function addressesOf(texts: readonly string[]): (Uint8Array | undefined)[] {
  return [...new Set(texts)].map(addressOf)
}

/** Rows of those objects or stores that are wanted. */
export function* mapped<T, R>(
  items: Iterable<T | undefined>,
  map: (item: T) => R | undefined,
): Generator<R | undefined> {
  for (const item of items) yield item === undefined ? undefined : map(item)
}
