import type { StateReader } from '@ledger-state/engine'
import { changedStoresKey, decodeChangedStores } from '@ledger-state/records'
import type { VersionRange } from './span-changes.js'

/** Part of the range of a page, in its order. */
export interface ActivityWindow {
  readonly range: VersionRange
  /** Names of the fungible stores of the owner that the range wrote; undefined if they are not known. */
  readonly names: readonly number[] | undefined
}

const GROWTH = 2
const MOST_WRITES = 4_096

/**
 * Divides a range of versions into parts with about `writes` writes of stores of an owner, more in later parts, where
 * the index lists these writes; the other versions of the range are one part. The index lists them for owners of many
 * stores, and most of them have the names of all earlier stores in its first row.
 * @param most writes after which the rest is one part without names
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
  if (unlisted && !isNewestFirst) yield unlisted
  if (since === undefined || since > last) {
    if (unlisted && isNewestFirst) yield unlisted
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
  if (rest.first <= rest.last) yield { range: rest, names: total >= most ? undefined : toSorted(names) }
  if (unlisted && isNewestFirst) yield unlisted
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
