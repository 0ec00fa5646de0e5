import { Buffer } from 'node:buffer'
import type { VersionWrites, Write } from '@ledger-state/core'
import { storedToValue } from '@ledger-state/engine/authoring'
import { highHalf, lowHalf } from '../bytes/version-halves.js'
import type { Segment } from '../memtable/segment.js'
import { PRESENT } from '../segments/found.js'
import { SegmentCursor } from '../segments/segment-cursor.js'
import { blockBeginningAt } from './blocks.js'
import type { Lookup } from './lookup.js'
import type { ReadSnapshot } from './read-snapshot.js'
import type { SegmentSlice } from './segment-slices.js'

/** Number of writes that are sorted in memory at a time. */
const SLICE_WRITES = 100_000
/**
 * Number of equal parts into which the range is divided. A slice consists of parts that together have few enough
 * writes.
 */
const PARTS = 4_096

/** Keys that each version wrote, in ascending order of versions, without versions that wrote nothing. */
type KeysByVersion = Map<bigint, Uint8Array[]>

/**
 * Lists the writes of versions, in order. The memtable has its versions in their order, so their cost is that of their
 * writes. Merged versions cost passes over all keys.
 */
export function* listVersions(
  lookup: Lookup,
  snapshot: () => ReadSnapshot,
  first: bigint,
  last: bigint,
): Generator<VersionWrites> {
  for (let next = first; next <= last; ) {
    const { segments } = snapshot().memtable
    const segment = segments.find((one) => isIn(one, next))
    if (segment) {
      yield { version: next, block: blockBeginningAt(snapshot(), next), writes: writesInMemtable(segment, next) }
      next++
      continue
    }
    const inMemtable = segments.find(({ versionCount, firstVersion }) => versionCount > 0 && firstVersion > next)
    const end = inMemtable && inMemtable.firstVersion <= last ? inMemtable.firstVersion - 1n : last
    yield* listMergedVersions(lookup, snapshot, next, end)
    next = end + 1n
  }
}

function isIn({ firstVersion, versionCount }: Segment, version: bigint): boolean {
  return version >= firstVersion && version < firstVersion + BigInt(versionCount)
}

/** Writes of a version, in the order of their keys. */
function writesInMemtable(segment: Segment, version: bigint): Write[] {
  const { bytes } = segment
  const writes: Write[] = []
  for (let entry = segment.firstEntryFrom(version); entry < segment.entryCount; entry++) {
    if (segment.version(entry) !== version) break
    const key = Buffer.from(bytes.subarray(segment.keyStart(entry), segment.keyEnd(entry)))
    if (segment.isDeletion(entry)) writes.push([key, null])
    else {
      const stored = bytes.subarray(segment.valueStart(entry), segment.valueEnd(entry))
      const { value, annotation } = storedToValue(Buffer.from(stored))
      writes.push(annotation ? [key, value, annotation] : [key, value])
    }
  }
  return writes.sort(([a], [b]) => Buffer.compare(a, b))
}

function* listMergedVersions(
  lookup: Lookup,
  snapshot: () => ReadSnapshot,
  first: bigint,
  last: bigint,
): Generator<VersionWrites> {
  let next = first
  for (const keysOfVersions of keysByVersion(snapshot, first, last)) {
    for (const [version, keys] of keysOfVersions) {
      while (next < version) yield mergedVersion(lookup, snapshot, next++, [])
      yield mergedVersion(lookup, snapshot, next++, keys)
    }
  }
  while (next <= last) yield mergedVersion(lookup, snapshot, next++, [])
}

function mergedVersion(
  lookup: Lookup,
  snapshot: () => ReadSnapshot,
  version: bigint,
  keys: readonly Uint8Array[],
): VersionWrites {
  const writes = keys.map((key): Write => {
    const found = lookup.find(key, highHalf(version), lowHalf(version), snapshot())
    if (found !== PRESENT) return [key, null]
    const annotation = lookup.annotation()
    return annotation ? [key, lookup.copy(), annotation] : [key, lookup.copy()]
  })
  return { version, block: blockBeginningAt(snapshot(), version), writes }
}

/** All writes of versions in segment files, file by file, those of each version in the order of their keys. */
function* segmentRevisions(slices: readonly SegmentSlice[], from: bigint, to: bigint) {
  // A segment of several files has its first keys in the first of them.
  for (const { row, reader } of slices.toReversed()) {
    if (row.firstVersion > to || row.until < from) continue
    const most = Number((to < row.until ? to : row.until) - row.firstVersion)
    const least = from > row.firstVersion ? Number(from - row.firstVersion) : 0
    const cursor = new SegmentCursor(reader)
    while (cursor.next()) {
      const { entry } = cursor
      let key: Uint8Array | undefined
      for (let write = 0; write < entry.count; write++) {
        const version = entry.versions[write]!
        if (version < least || version > most) continue
        key ??= Buffer.from(cursor.key.copy().buffer)
        yield { version: row.firstVersion + BigInt(version), key }
      }
    }
  }
}

/**
 * Finds the keys that merged versions wrote. The store is ordered by key, so this takes one pass over all keys to count
 * writes, and one more for each slice of versions. Memory is bounded.
 */
function* keysByVersion(snapshot: () => ReadSnapshot, first: bigint, last: bigint): Generator<KeysByVersion> {
  const width = (last - first) / BigInt(PARTS) + 1n
  const counts = new Array<number>(PARTS).fill(0)
  for (const { version } of revisions(first, last)) counts[Number((version - first) / width)]!++
  let start = 0
  while (start < PARTS) {
    let end = start + 1
    for (let sum = counts[start]!; end < PARTS && sum + counts[end]! <= SLICE_WRITES; end++) sum += counts[end]!
    yield slice(first + BigInt(start) * width, first + BigInt(end) * width - 1n)
    start = end
  }

  function slice(from: bigint, to: bigint): KeysByVersion {
    const keys: KeysByVersion = new Map()
    for (const { version, key } of revisions(from, to < last ? to : last)) {
      const others = keys.get(version)
      if (others) others.push(key)
      else keys.set(version, [key])
    }
    return new Map([...keys].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  function* revisions(from: bigint, to: bigint) {
    if (from > to) return
    yield* segmentRevisions(snapshot().slices, from, to)
  }
}
