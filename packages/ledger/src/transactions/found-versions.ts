import { ByteWriter, larger } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { affectedAccountKey, eventTypeKey } from '@ledger-state/records'
import { type TypeTag, writeTypeTag } from '@ledger-state/type-tag'
import type { LedgerState } from '../state/ledger-state.js'
import { createEventFilter, type FieldFilter } from './event-filter.js'
import { type DecodedEvent, type EventPlace, StoredEvents } from './events.js'
import { indexedVersions } from './indexed-versions.js'
import { type LedgerTransaction, wholeTransactionAt } from './ledger-transaction.js'

/** Part of a list, and the place at which it begins. */
export interface FoundOptions {
  /** First version; by default, and if it is lower, the first since which every transaction is kept. */
  readonly from?: bigint | undefined
  /** Last version; by default, and if it is higher, the version of the state. */
  readonly to?: bigint | undefined
  readonly order: 'asc' | 'desc'
  /** Most items of the page. */
  readonly limit: number
  /** Where the page begins: the cursor of the page before. */
  readonly start?: FoundCursor | undefined
  /** Called before each item except the first. If it returns true, the page ends there. */
  readonly isFull?: (() => boolean) | undefined
}

/** A version, and the number of its items that were shown before. */
export interface FoundCursor {
  readonly version: bigint
  readonly shown: number
}

const EVERYTHING = new Uint8Array(0)
/** Versions and bytes that are examined for one page of a filtered list. */
const MOST_EXAMINED = { versions: 1_000, bytes: 16 << 20 }

/**
 * A page of a list, which can be iterated once. The iteration also yields undefined, for an item that a filter excludes
 * and after some examined items, so that its caller can pause.
 */
export interface FoundPage<T> extends Iterable<T | undefined> {
  /** Whether every transaction since the first version asked for is kept. */
  readonly isComplete: boolean
  /**
   * Where the next page begins, known at the end of the iteration; undefined if nothing follows. A filtered page ends
   * there after much work even if it has no items.
   */
  readonly cursor: FoundCursor | undefined
}

/**
 * The transactions that wrote a module, a resource or a group at an address, or an item of the table with this handle,
 * by version.
 * @throws `version_pruned` if a slice does not have all of them, or as `foundPage`
 */
export function affectingTransactions(
  state: LedgerState,
  address: Uint8Array,
  options: FoundOptions,
): FoundPage<LedgerTransaction> {
  state.transactions.expectIndex('affected')
  state.source.sliced?.expectWholeMember(address, state.version)
  return foundPage(state, affectedAccountKey(address), options, (version, shown) => {
    const transaction = shown === 0 ? wholeTransactionAt(state, version) : undefined
    return transaction ? [transaction] : []
  })
}

/**
 * Checks that the store finds the events of all transactions by their type. A slice has only those of its members.
 * @throws `transactions_not_indexed`, `version_pruned`
 */
export function expectAllEvents({ source, transactions, version }: LedgerState): void {
  transactions.expectIndex('event-type')
  source.sliced?.expectListed(EVERYTHING, version)
}

/**
 * The events of a type, by version; in the order `desc`, the last event of a version comes first.
 * @param filters values that fields of the events have
 * @throws `invalid_value` if the type has no such field or a value does not fit it; `version_pruned` over a slice, or as
 *   `foundPage`
 */
export function eventsOfType(
  state: LedgerState,
  type: TypeTag,
  options: FoundOptions,
  filters: readonly FieldFilter[] = [],
): FoundPage<DecodedEvent> {
  expectAllEvents(state)
  const writer = new ByteWriter()
  writeTypeTag(writer, type)
  const bytes = writer.toBytes()
  let storedBytes = 0
  function* itemsOf(version: bigint, shown: number): Generator<DecodedEvent | undefined, void> {
    const stored = state.transactions.storedAt(version)
    if (!stored) return
    storedBytes += stored.transaction.length + stored.events.length
    const events = new StoredEvents(state, version, stored)
    const places = events.places((head) => compareBytes(head.type, bytes) === 0)
    let skipped = 0
    for (const place of options.order === 'asc' ? places : backwards(places)) {
      if (!place) yield undefined
      else if (skipped < shown) skipped++
      else yield events.at(place)
    }
  }
  if (filters.length === 0) return foundPage(state, eventTypeKey(bytes), options, itemsOf)
  const filter = createEventFilter(state, type, filters)
  return foundPage(state, eventTypeKey(bytes), options, itemsOf, {
    matches: (event) => filter.matches(event),
    isSpent: (versions) =>
      versions >= MOST_EXAMINED.versions || storedBytes + filter.examinedBytes >= MOST_EXAMINED.bytes,
  })
}

/** Leaves out items of a page, within a budget. */
interface ItemFilter<T> {
  matches(item: T): boolean
  /** Whether the page ends before the next item, after this number of versions. */
  isSpent(versions: number): boolean
}

/** Places in the other direction; their chances to pause come first. */
function* backwards(places: Iterable<EventPlace | undefined>): Generator<EventPlace | undefined, void> {
  const list: EventPlace[] = []
  for (const place of places) {
    if (place) list.push(place)
    else yield undefined
  }
  while (list.length > 0) yield list.pop()
}

/**
 * A page of the items of the versions that wrote a key.
 * @param itemsOf the items of a version after the number that was shown; undefined is a chance to pause
 * @throws `version_pruned` if the page begins at a version whose transaction is not kept any more, or the transaction
 *   of the last version is not kept
 */
function foundPage<T>(
  state: LedgerState,
  key: Uint8Array,
  { from, to, order, limit, start, isFull }: FoundOptions,
  itemsOf: (version: bigint, shown: number) => Iterable<T | undefined>,
  filter?: ItemFilter<T>,
): FoundPage<T> {
  const { completeSince } = state.transactions
  if (to !== undefined) state.transactions.expectSince(to)
  // The page before ended above versions that were pruned since.
  if (start) state.transactions.expectSince(start.version)
  let cursor: FoundCursor | undefined
  function* items(): Generator<T | undefined, void> {
    let count = 0
    let versions = 0
    // Each page examines at least one item.
    let isBegun = false
    for (const version of versionsThatWrote(state, key, { from, to, order, start })) {
      let shown = start?.version === version ? start.shown : 0
      if (isBegun && filter?.isSpent(versions)) {
        cursor = { version, shown }
        return
      }
      versions++
      for (const item of itemsOf(version, shown)) {
        if (item === undefined) {
          yield undefined
          continue
        }
        if (count === limit || (count > 0 && isFull?.()) || (isBegun && filter?.isSpent(versions - 1))) {
          cursor = { version, shown }
          return
        }
        isBegun = true
        shown++
        if (filter && !filter.matches(item)) {
          yield undefined
          continue
        }
        count++
        yield item
      }
    }
  }
  return {
    isComplete: from === undefined || from >= completeSince,
    get cursor() {
      return cursor
    },
    [Symbol.iterator]: items,
  }
}

function* versionsThatWrote(
  state: LedgerState,
  key: Uint8Array,
  { from, to, order, start }: Pick<FoundOptions, 'from' | 'to' | 'order' | 'start'>,
): Generator<bigint, void> {
  const { completeSince } = state.transactions
  const lowest = from === undefined ? completeSince : larger(from, completeSince)
  const isAscending = order === 'asc'
  const first = isAscending && start && start.version > lowest ? start.version : lowest
  const highest = to !== undefined && to < state.version ? to : state.version
  const last = !isAscending && start && start.version < highest ? start.version : highest
  if (first > last) return
  for (const { version } of indexedVersions(state, { key, hasNumbers: false }, { first, last, order })) yield version
}
