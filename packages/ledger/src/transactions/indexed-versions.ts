import { RUN_VERSIONS } from '@ledger-state/records'
import { decodeGroupedVersions, type GroupedVersion } from '@ledger-state/records/transaction-blocks'
import type { LedgerState } from '../state/ledger-state.js'

/** A key of an index of whole transactions. */
export interface IndexKey {
  readonly key: Uint8Array
  /** Whether each version has a number, which ascends. */
  readonly hasNumbers: boolean
}

/** Part of the versions of a key. */
export interface IndexedRange {
  /** First version; by default, and if it is lower, the oldest whose transaction is kept. */
  readonly first?: bigint | undefined
  /** Last version; by default, and if it is higher, the version of the state. */
  readonly last?: bigint | undefined
  readonly order: 'asc' | 'desc'
}

/** The versions of a range that an index names under a key, in order. */
export function indexedVersions(
  state: LedgerState,
  index: IndexKey,
  { first, last, order }: IndexedRange,
): Iterable<GroupedVersion> {
  const { oldestVersion } = state.transactions
  const least = first === undefined || first < oldestVersion ? oldestVersion : first
  const most = last === undefined || last > state.version ? state.version : last
  const shared = sharedVersions(state, index, least, most, order)
  return mergeVersions(shared, retainedVersions(state, index, least, most, order), order)
}

/** Merges two lists of different versions. */
function* mergeVersions(
  one: Iterator<GroupedVersion>,
  other: Iterator<GroupedVersion>,
  order: 'asc' | 'desc',
): Generator<GroupedVersion, void> {
  let [a, b] = [one.next(), other.next()]
  while (!a.done || !b.done) {
    if (b.done || (!a.done && a.value.version < b.value.version === (order === 'asc'))) {
      yield a.value
      a = one.next()
    } else {
      yield b.value
      b = other.next()
    }
  }
}

/** The versions of transactions with keys of their own. */
function* retainedVersions(
  state: LedgerState,
  index: IndexKey,
  least: bigint,
  most: bigint,
  order: 'asc' | 'desc',
): Generator<GroupedVersion, void> {
  if (least > most) return
  // A group of retained transactions is a block, which lies within one run of versions.
  const range = { first: least - (least % RUN_VERSIONS), last: most }
  for (const row of state.transactions.retainedRows(index.key, range, order)) {
    yield* within(state, index, row.value, least, most, order)
  }
}

/** The versions of transactions with keys that other versions share. */
function* sharedVersions(
  state: LedgerState,
  index: IndexKey,
  lowest: bigint,
  most: bigint,
  order: 'asc' | 'desc',
): Generator<GroupedVersion, void> {
  const { oldestVersion } = state.ledger
  const least = lowest < oldestVersion ? oldestVersion : lowest
  if (least > most) return
  // A group of versions is written by its first version, which may lie below the range.
  const before = state.transactions.viewAt(least).getEntry(index.key)
  const begin = before && before.version < least ? before : undefined
  if (begin && order === 'asc') yield* within(state, index, begin.value, least, most, order)
  for (const { version, value } of state.source.reader.history(index.key, { first: least, last: most, order })) {
    if (!value || version < least || version > most) continue
    yield* within(state, index, value, least, most, order)
  }
  if (begin && order === 'desc') yield* within(state, index, begin.value, least, most, order)
}

/** The number of the last version of a key that is not above a version. */
export function numberAt(state: LedgerState, index: IndexKey, version: bigint): GroupedVersion | undefined {
  for (const found of indexedVersions(state, index, { last: version, order: 'desc' })) return found
  return undefined
}

/**
 * Versions of the window with a number of at least `least` under a key, in order.
 */
export function* versionsWithNumber(
  state: LedgerState,
  index: IndexKey,
  least: bigint,
): Generator<GroupedVersion, void> {
  const first = firstVersionWith(state, index, least)
  if (first !== undefined) yield* indexedVersions(state, index, { first, order: 'asc' })
}

/** The first version of the window at which the newest number is at least `least`. */
function firstVersionWith(state: LedgerState, index: IndexKey, least: bigint): bigint | undefined {
  const newest = numberAt(state, index, state.version)
  if (!newest || newest.number < least) return undefined
  let low = state.transactions.oldestVersion
  let high = newest.version
  while (low < high) {
    const middle = (low + high) / 2n
    const found = numberAt(state, index, middle)
    if (found && found.number >= least) high = found.version
    else low = middle + 1n
  }
  return low
}

/** The versions of a group that belong to a range. */
function* within(
  state: LedgerState,
  { hasNumbers }: IndexKey,
  row: Uint8Array,
  least: bigint,
  most: bigint,
  order: 'asc' | 'desc',
): Generator<GroupedVersion, void> {
  const { group, versions } = decodeGroupedVersions(row, hasNumbers)
  const listed = versions.filter(({ version }) => version >= least && version <= most)
  const left = listed.slice(0, countOfGroup(state, group, listed))
  yield* order === 'asc' ? left : left.reverse()
}

/**
 * Number of the first versions that still belong to a group: a truncation may have cut off its last ones. Those belong
 * to another group now, or to none.
 */
function countOfGroup(state: LedgerState, group: bigint, listed: readonly GroupedVersion[]): number {
  const isOfGroup = (at: number) => state.transactions.groupAt(listed[at]!.version) === group
  let [least, most] = [0, listed.length]
  if (most === 0 || isOfGroup(most - 1)) return most
  while (least < most) {
    const middle = (least + most) >>> 1
    if (isOfGroup(middle)) least = middle + 1
    else most = middle
  }
  return least
}
