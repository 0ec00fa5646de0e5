import { Buffer } from 'node:buffer'
import { keyAfter } from '@ledger-state/core/bytes'
import { prefixToStoredEnd, prefixToStoredStart, storedKeyToPrefix } from '../bytes/stored-key.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import type { ReadOptions } from '../lmdb/table.js'
import { listVerifiedKeys } from '../lmdb/verify-absence.js'
import type { Segment } from '../memtable/segment.js'
import { readLarge } from '../records/large-values.js'
import { LONG_KEY, largeReference, latestTail } from '../records/latest-record.js'
import type { ReadSnapshot } from './read-snapshot.js'
import { firstSegmentKeys } from './segment-key-pages.js'

/** Most keys that a scan takes from one snapshot; `MIN_PAGE_KEYS` is the least. */
const MAX_PAGE_KEYS = 256
const MIN_PAGE_KEYS = 16

/** Keys of one source, ascending. */
interface SourceKeys {
  readonly keys: Uint8Array[]
  /** Whether the source has no further keys. */
  readonly isWhole: boolean
}

/**
 * Keys that have a record or an entry in the memtable, begin with a prefix and are at or above `first`, in the order of
 * their bytes and in pages. Each page comes from the snapshot that is current when it is asked for; `wanted` says how
 * many keys the caller still wants.
 */
export function* keyPages(
  store: LmdbStore,
  prefix: Uint8Array,
  first: Uint8Array,
  snapshot: () => ReadSnapshot,
  wanted: () => number = () => MAX_PAGE_KEYS,
): Generator<Uint8Array[]> {
  let begin: Uint8Array | undefined = Buffer.compare(first, prefix) > 0 ? first : prefix
  while (begin) {
    const count = Math.max(MIN_PAGE_KEYS, Math.min(wanted(), MAX_PAGE_KEYS))
    const { options, memtable, slices } = snapshot()
    const merged = store.segments
      ? firstSegmentKeys(slices, prefix, begin, count)
      : mergedKeys(store, prefix, begin, count, options)
    const sources = [merged]
    // If the records were many long keys, takes as many keys of each segment, so that the page does not end early.
    const most = Math.max(count, merged.keys.length)
    for (const segment of memtable.segments) sources.push(segmentKeys(segment, prefix, begin, most))
    const page = mergeSources(sources)
    yield page.keys
    begin = page.isWhole ? undefined : keyAfter(page.keys.at(-1)!)
  }
}

/** Merges the keys of all sources in order, each key once, up to where every source was read. */
function mergeSources(sources: readonly SourceKeys[]): SourceKeys {
  const [one, ...others] = sources.filter(({ keys }) => keys.length > 0)
  if (!one) return { keys: [], isWhole: true }
  if (others.length === 0) return one
  let end: Uint8Array | undefined
  for (const { keys, isWhole } of [one, ...others]) {
    const last = keys.at(-1)!
    if (!isWhole && (!end || Buffer.compare(last, end) < 0)) end = last
  }
  const sorted = sources.flatMap(({ keys }) => keys).sort(Buffer.compare)
  const keys = sorted.filter((key, at) => {
    const isRepeated = at > 0 && Buffer.compare(sorted[at - 1]!, key) === 0
    return !isRepeated && (!end || Buffer.compare(key, end) <= 0)
  })
  return { keys, isWhole: !end }
}

/** Copies of the first keys of a segment that begin with a prefix and are at or above `begin`. */
function segmentKeys(segment: Segment, prefix: Uint8Array, begin: Uint8Array, count: number): SourceKeys {
  const sorted = segment.sortedKeys()
  const { bytes } = segment
  const keys: Uint8Array[] = []
  for (let place = firstAtLeast(segment, sorted, begin); place < sorted.length; place++) {
    if (keys.length === count) return { keys, isWhole: false }
    const start = segment.startOfKey(sorted[place]!)
    const end = segment.endOfKey(sorted[place]!)
    if (end - start < prefix.length || bytes.compare(prefix, 0, prefix.length, start, start + prefix.length) !== 0)
      break
    keys.push(Buffer.from(bytes.subarray(start, end)))
  }
  return { keys, isWhole: true }
}

function firstAtLeast(segment: Segment, sorted: Int32Array, begin: Uint8Array): number {
  const { bytes } = segment
  let least = 0
  let most = sorted.length
  while (least < most) {
    const middle = (least + most) >> 1
    const key = sorted[middle]!
    const isBelow = bytes.compare(begin, 0, begin.length, segment.startOfKey(key), segment.endOfKey(key)) < 0
    if (isBelow) least = middle + 1
    else most = middle
  }
  return least
}

/** The first keys with a record that begin with a prefix and are at or above `begin`. */
function mergedKeys(
  store: LmdbStore,
  prefix: Uint8Array,
  begin: Uint8Array,
  count: number,
  options: ReadOptions,
): SourceKeys {
  const end = prefixToStoredEnd(prefix)
  const found: Uint8Array[] = []
  // Long keys with the same beginning as `begin` may all be below it; then the next ones are read.
  for (let start: Uint8Array = prefixToStoredStart(begin); ; ) {
    const stored = rangeOfKeys(store, start, end, options, count)
    const last = stored.at(-1)
    let next: Uint8Array | undefined = last && stored.length === count ? keyAfter(last) : undefined
    if (last && next && !storedKeyToPrefix(last).isWhole) {
      // Long keys with the same beginning are stored in the order of their hashes, so all are read, to be sorted.
      const afterLong = prefixToStoredEnd(storedKeyToPrefix(last).beginning)
      stored.push(...rangeOfKeys(store, next, afterLong, options))
      next = afterLong
    }
    for (const key of storedKeysToKeys(store, stored, options)) {
      if (startsWith(key, prefix) && Buffer.compare(key, begin) >= 0) found.push(key)
    }
    if (!next || found.length > 0) return { keys: found, isWhole: !next }
    start = next
  }
}

function rangeOfKeys(
  store: LmdbStore,
  start: Uint8Array,
  end: Uint8Array,
  options: ReadOptions,
  limit?: number,
): Uint8Array[] {
  if (store.verifyReads) return listVerifiedKeys(store, start, end, options, limit)
  return [...store.latestByStoredKey.getKeys({ start, end, ...options, ...(limit !== undefined && { limit }) })]
}

/** Converts stored keys to keys, in the order of their bytes. */
function storedKeysToKeys(store: LmdbStore, stored: readonly Uint8Array[], options: ReadOptions): Uint8Array[] {
  const keys: Uint8Array[] = []
  let long: Uint8Array[] = []
  let longBeginning: Uint8Array | undefined
  const flushLong = () => {
    keys.push(...long.sort(Buffer.compare))
    long = []
  }
  for (const one of stored) {
    const { beginning, isWhole } = storedKeyToPrefix(one)
    if (longBeginning && (isWhole || Buffer.compare(beginning, longBeginning) !== 0)) flushLong()
    longBeginning = isWhole ? undefined : beginning
    if (isWhole) keys.push(beginning)
    else {
      const key = readLongKey(store, one, options)
      if (key) long.push(key)
    }
  }
  flushLong()
  return keys
}

function readLongKey(store: LmdbStore, stored: Uint8Array, options: ReadOptions): Uint8Array | undefined {
  const record = new SharedRecord()
  if (!record.load(store.latestByStoredKey, stored, options) || !(record.bytes[0]! & LONG_KEY)) return undefined
  return readLarge(store, largeReference(record, latestTail(record)), options)
}

function startsWith(key: Uint8Array, prefix: Uint8Array): boolean {
  return key.length >= prefix.length && Buffer.compare(key.subarray(0, prefix.length), prefix) === 0
}
