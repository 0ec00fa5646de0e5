import type { KeyedEntry } from '@ledger-state/core'

/** Start and end of a page of a listing. */
export interface ListOptions {
  /** The state key at which the page begins, whether it is there or not: the `cursor` of the page before. */
  readonly start?: Uint8Array | undefined
  /** Most state keys of the page; all by default. A resource group is one, however many members it has. */
  readonly limit?: number | undefined
  /** Asked before each state key but the first: whether the page ends here. */
  readonly isFull?: (() => boolean) | undefined
}

/** One page of a listing. Its items are read as the iteration reaches them; it is iterated once. */
export interface Listing<T> extends Iterable<T> {
  /** Known at the end of the iteration: where the next page begins, undefined if nothing follows. */
  readonly cursor: Uint8Array | undefined
}

/** `read` gives the items of one state key. */
export function createListing<T>(
  entries: Iterable<KeyedEntry>,
  { limit, isFull }: Pick<ListOptions, 'limit' | 'isFull'>,
  read: (entry: KeyedEntry) => Iterable<T>,
): Listing<T> {
  let cursor: Uint8Array | undefined
  function* items(): Generator<T> {
    let count = 0
    for (const entry of entries) {
      if (count === limit || (count > 0 && isFull?.())) {
        cursor = entry.key
        return
      }
      count++
      yield* read(entry)
    }
  }
  return {
    get cursor() {
      return cursor
    },
    [Symbol.iterator]: items,
  }
}
