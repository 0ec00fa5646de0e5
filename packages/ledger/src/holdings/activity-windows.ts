import type { StateReader, StateView } from '@ledger-state/engine'
import { changedStoresKey, decodeChangedStores } from '@ledger-state/records'
import type { VersionRange } from './span-changes.js'
import { endedStores } from './spans.js'

/** Part of the range of a page, in its order. */
export interface ActivityWindow {
  readonly range: VersionRange
  /** Names of the fungible stores of the owner that the range wrote; undefined if they are not known. */
  readonly names: readonly number[] | undefined
}

const GROWTH = 2
const MOST_WRITES = 4_096
/** Stores that an owner lost in the first part of versions without a list. A page reads a few rows for each of them. */
const FIRST_ENDED = 128

/**
 * Divides a range of versions into parts with about `writes` writes of stores of an owner, more in later parts, where
 * the index lists these writes; the other versions of the range are one part, or several if the owner lost many stores.
 * The index lists them for owners of many stores, and most of them have the names of all earlier stores in its first
 * row.
 * @param most writes after which the rest has no names
 */
export function* activityWindows(
  reader: StateReader,
  owner: Uint8Array,
  { first, last }: VersionRange,
  isNewestFirst: boolean,
  writes: number,
  most = Number.POSITIVE_INFINITY,
): Generator<ActivityWindow> {
  const key = changedStoresKey(owner)
  const since = listedSince(reader, key, last)
  const least = since !== undefined && since > first ? since : first
  const unlisted: ActivityWindow | undefined =
    since === undefined || since > first
      ? {
          range: { first, last: since === undefined || since > last ? last : since - 1n },
          names: since === undefined ? undefined : earlierNames(reader, key, since),
        }
      : undefined
  const inParts = (window: ActivityWindow): Iterable<ActivityWindow> =>
    window.names ? [window] : partsByEnded(reader, owner, window.range, isNewestFirst)
  if (unlisted && !isNewestFirst) yield* inParts(unlisted)
  if (since === undefined || since > last) {
    if (unlisted && isNewestFirst) yield* inParts(unlisted)
    return
  }
  let size = writes
  let count = 0
  let total = 0
  let names = new Set<number>()
  /** The version of the next window at which it begins, in the order of the page. */
  let begin = isNewestFirst ? last : least
  const rangeTo = (end: bigint): VersionRange =>
    isNewestFirst ? { first: end, last: begin } : { first: begin, last: end }
  for (const { version, value } of reader.history(key, { first: least, last, order: isNewestFirst ? 'desc' : 'asc' })) {
    if (version < least || !value) continue
    for (const name of decodeChangedStores(value).names) {
      count++
      names.add(name)
    }
    if (count < size) continue
    yield { range: rangeTo(version), names: toSorted(names) }
    begin = isNewestFirst ? version - 1n : version + 1n
    total += count
    size = Math.min(MOST_WRITES, GROWTH * size)
    count = 0
    names = new Set()
    if (total >= most) break
  }
  // Coin stores may have changed in the rest.
  const rest = rangeTo(isNewestFirst ? least : last)
  if (rest.first <= rest.last) yield* inParts({ range: rest, names: total >= most ? undefined : toSorted(names) })
  if (unlisted && isNewestFirst) yield* inParts(unlisted)
}

/** Divides a range without names into parts in which the owner lost few stores. */
function* partsByEnded(
  reader: StateReader,
  owner: Uint8Array,
  { first, last }: VersionRange,
  isNewestFirst: boolean,
): Generator<ActivityWindow> {
  const view = reader.at(last)
  let rest: VersionRange | undefined = { first, last }
  for (let most = FIRST_ENDED; rest; most = Math.min(MOST_WRITES, GROWTH * most)) {
    const end: bigint = isNewestFirst ? firstWithFew(reader, owner, rest, most) : lastWithFew(view, owner, rest, most)
    yield {
      range: isNewestFirst ? { first: end, last: rest.last } : { first: rest.first, last: end },
      names: undefined,
    }
    if (isNewestFirst) rest = end > first ? { first, last: end - 1n } : undefined
    else rest = end < last ? { first: end + 1n, last } : undefined
  }
}

/** The version up to which an owner has lost `most` stores since the first of a range; the last if it lost fewer. */
function lastWithFew(view: StateView, owner: Uint8Array, { first, last }: VersionRange, most: number): bigint {
  let count = 0
  for (const version of endedStores(view, owner, first)) {
    if (version > last) return last
    if (++count === most) return version
  }
  return last
}

/** A version since which an owner lost at most `most` stores up to the last of a range, and not much fewer. */
function firstWithFew(reader: StateReader, owner: Uint8Array, { first, last }: VersionRange, most: number): bigint {
  const view = reader.at(last)
  const lostSince = (version: bigint): number => {
    let count = 0
    for (const _ of endedStores(view, owner, version)) if (++count > most) break
    return count
  }
  if (lostSince(first) <= most) return first
  let [low, high] = [first, last]
  while (high - low > 1n) {
    const middle = (low + high) / 2n
    const lost = lostSince(middle)
    if (lost > most) low = middle
    else high = middle
    if (lost <= most && 2 * lost >= most) break
  }
  return high
}

function toSorted(names: ReadonlySet<number>): readonly number[] {
  return [...names].sort((a, b) => a - b)
}

/** Version since which the index lists the writes of an owner, which may be after `last`; undefined if it never does. */
function listedSince(reader: StateReader, key: Uint8Array, last: bigint): bigint | undefined {
  const value = reader.at(last).peek(key)
  if (value) return decodeChangedStores(value).since
  for (const later of reader.history(key, { first: last + 1n, order: 'asc' }))
    return later.value ? decodeChangedStores(later.value).since : undefined
  return undefined
}

/** Names of the stores that an owner had before its list begins; undefined if its first row does not have them. */
function earlierNames(reader: StateReader, key: Uint8Array, since: bigint): readonly number[] | undefined {
  const value = reader.at(since).peek(key)
  const row = value && decodeChangedStores(value)
  return row?.hasEarlier ? row.names : undefined
}
