import type { KeyedEntry } from '@ledger-state/core'

/** Start and end of one page of a listing. */
export interface ListOptions {
  /** State key at which the page begins, whether or not it exists: the `cursor` of the page before. */
  readonly start?: Uint8Array | undefined
  /** Most state keys of the page; all by default. A resource group counts as one, however many members it has. */
  readonly limit?: number | undefined
  /** Called before each state key except the first. If it returns true, the page ends there. */
  readonly isFull?: (() => boolean) | undefined
}

/** One page of a listing. Its items are read as the iteration reaches them; it can be iterated once. */
export interface Listing<T> extends Iterable<T> {
  /** Start of the next page, known at the end of the iteration; undefined if nothing follows. */
  readonly cursor: Uint8Array | undefined
}

/** The items of a list without its chances to pause, which are undefined. */
export function* withoutPauses<T>(items: Iterable<T | undefined>): Generator<T, void> {
  for (const item of items) if (item !== undefined) yield item
}

/** A page without its chances to pause. */
export function toListing<T>(pausing: Listing<T | undefined>): Listing<T> {
  return {
    get cursor() {
      return pausing.cursor
    },
    [Symbol.iterator]: () => withoutPauses(pausing),
  }
}

type Ends = Pick<ListOptions, 'limit' | 'isFull'>

/** Creates a page of a listing. `read` returns the items of one state key. */
export function createListing<T>(
  entries: Iterable<KeyedEntry>,
  ends: Ends,
  read: (entry: KeyedEntry) => Iterable<T>,
): Listing<T> {
  return createPagedListing(ends, function* (isEnd) {
    for (const entry of entries) {
      if (isEnd(entry)) return
      yield* read(entry)
    }
  })
}

/** Same as `createListing`, for state keys that are one item each. */
export function createItemListing<T>(
  entries: Iterable<KeyedEntry>,
  ends: Ends,
  read: (entry: KeyedEntry) => T,
): Listing<T> {
  return createPagedListing(ends, function* (isEnd) {
    for (const entry of entries) {
      if (isEnd(entry)) return
      yield read(entry)
    }
  })
}

/**
 * Creates a page of a listing.
 * @param items yields the items of the page; it asks before each state key whether the page ends there
 */
export function createPagedListing<T>(
  { limit, isFull }: Ends,
  items: (isEnd: (entry: KeyedEntry) => boolean) => Generator<T>,
): Listing<T> {
  let cursor: Uint8Array | undefined
  let count = 0
  const isEnd = ({ key }: KeyedEntry): boolean => {
    if (count === limit || (count > 0 && isFull?.())) {
      cursor = key
      return true
    }
    count++
    return false
  }
  return {
    get cursor() {
      return cursor
    },
    [Symbol.iterator]: () => items(isEnd),
  }
}
