import { Buffer } from 'node:buffer'
import { partitionPoint } from '@ledger-state/core'
import { keyAfter } from '@ledger-state/core/bytes'
import type { Segment } from '../memtable/segment.js'
import type { ReadSnapshot } from './read-snapshot.js'
import { firstSegmentKeys, type ScannedKey, type SourceKeys } from './segment-key-pages.js'

/** Most keys that a scan takes from one snapshot; `MIN_PAGE_KEYS` is the least. */
const MAX_PAGE_KEYS = 256
const MIN_PAGE_KEYS = 16
/**
 * Pages after which the keys of the memtable are sorted as a whole. That takes 15 to 23 ms for 100,000 keys; before, each
 * page reads several sorted runs.
 */
export const PAGES_OF_RUNS = 16

/** Where a scan begins, and the version that it reads, as halves. */
export interface ScanPlace {
  readonly prefix: Uint8Array
  readonly first: Uint8Array
  readonly high: number
  readonly low: number
}

/** A page of keys. */
export interface KeyPage {
  readonly keys: readonly ScannedKey[]
  /** The snapshot in which their merged entries were read. */
  readonly snapshot: ReadSnapshot
}

/**
 * Keys that are in a segment file or in the memtable, begin with a prefix and are at or above `first`, in the order of
 * their bytes and in pages. Each page comes from the snapshot that is current when it is asked for; `wanted` says how
 * many keys the caller still wants.
 */
export function* keyPages(
  { prefix, first, high, low }: ScanPlace,
  current: () => ReadSnapshot,
  wanted: () => number,
): Generator<KeyPage> {
  let begin: Uint8Array | undefined = Buffer.compare(first, prefix) > 0 ? first : prefix
  let least = MIN_PAGE_KEYS
  let wantedBefore: number | undefined
  for (let pages = 0; begin; pages++) {
    const most = wanted()
    // The caller used no key of the page before: many deleted keys may lie here.
    least = most === wantedBefore ? Math.min(2 * least, MAX_PAGE_KEYS) : MIN_PAGE_KEYS
    wantedBefore = most
    const count = Math.max(least, Math.min(most, MAX_PAGE_KEYS))
    const snapshot = current()
    const sources = [firstSegmentKeys(snapshot.slices, { prefix, begin, count, wanted: most, high, low })]
    for (const segment of snapshot.memtable.segments)
      for (const run of segment.sortedRuns({ asOne: pages >= PAGES_OF_RUNS }))
        sources.push(keysOfRun(segment, run, prefix, begin, count))
    const page = mergeSources(sources)
    yield { keys: page.keys, snapshot }
    begin = page.isWhole ? undefined : keyAfter(page.keys.at(-1)!.key)
  }
}

/** Merges the keys of all sources in order, each key once, up to where every source was read. */
function mergeSources(sources: readonly SourceKeys[]): SourceKeys {
  const [one, ...others] = sources.filter(({ keys }) => keys.length > 0)
  if (!one) return { keys: [], isWhole: true }
  if (others.length === 0) return one
  let end: Uint8Array | undefined
  for (const { keys, isWhole } of [one, ...others]) {
    const last = keys.at(-1)!.key
    if (!isWhole && (!end || Buffer.compare(last, end) < 0)) end = last
  }
  const sorted = sources.flatMap(({ keys }) => keys).sort((a, b) => Buffer.compare(a.key, b.key))
  const keys = sorted.filter(({ key }, at) => {
    const isRepeated = at > 0 && Buffer.compare(sorted[at - 1]!.key, key) === 0
    return !isRepeated && (!end || Buffer.compare(key, end) <= 0)
  })
  return { keys, isWhole: !end }
}

/** Copies of the first keys of a sorted run of a segment that begin with a prefix and are at or above `begin`. */
function keysOfRun(
  segment: Segment,
  run: Int32Array,
  prefix: Uint8Array,
  begin: Uint8Array,
  count: number,
): SourceKeys {
  const { bytes } = segment
  const keys: ScannedKey[] = []
  const isBelow = (key: number) =>
    bytes.compare(begin, 0, begin.length, segment.startOfKey(key), segment.endOfKey(key)) < 0
  for (let place = partitionPoint(run, isBelow); place < run.length; place++) {
    if (keys.length === count) return { keys, isWhole: false }
    const start = segment.startOfKey(run[place]!)
    const end = segment.endOfKey(run[place]!)
    if (end - start < prefix.length || bytes.compare(prefix, 0, prefix.length, start, start + prefix.length) !== 0)
      break
    keys.push({ key: Buffer.from(bytes.subarray(start, end)), merged: undefined })
  }
  return { keys, isWhole: true }
}
