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
 * stores.
 */
export function* activityWindows(
  reader: StateReader,
  owner: Uint8Array,
  { first, last }: VersionRange,
  isNewestFirst: boolean,
  writes: number,
): Generator<ActivityWindow> {
  const key = changedStoresKey(owner)
  const since = listedSince(reader, key, last)
  const least = since !== undefined && since > first ? since : first
  const unlisted: ActivityWindow | undefined =
    since === undefined
      ? { range: { first, last }, names: undefined }
      : since > first
        ? { range: { first, last: since - 1n }, names: undefined }
        : undefined
  if (unlisted && (!isNewestFirst || since === undefined)) yield unlisted
  if (since === undefined) return
  let size = writes
  let count = 0
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
    yield { range: rangeTo(version), names: [...names].sort((a, b) => a - b) }
    begin = isNewestFirst ? version - 1n : version + 1n
    size = Math.min(MOST_WRITES, GROWTH * size)
    count = 0
    names = new Set()
  }
  // Coin stores may have changed in the rest.
  const rest = rangeTo(isNewestFirst ? least : last)
  if (rest.first <= rest.last) yield { range: rest, names: [...names].sort((a, b) => a - b) }
  if (unlisted && isNewestFirst) yield unlisted
}

/** Version since which the index lists the writes of an owner; undefined if it does not list those of a version. */
function listedSince(reader: StateReader, key: Uint8Array, version: bigint): bigint | undefined {
  const value = reader.at(version).peek(key)
  return value && decodeChangedStores(value).since
}
