import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { ReadSnapshot } from './read-snapshot.js'
import { RevisionCursor } from './revision-cursor.js'
import { keyPages } from './scan.js'

/** Writes that are sorted in memory at a time. */
const SLICE_WRITES = 100_000
/** The range is divided into so many equal parts; a slice is made of parts that together have few enough writes. */
const PARTS = 4_096

const EVERY_KEY = new Uint8Array(0)

/** The keys that each version wrote, in ascending order of versions, without versions that wrote nothing. */
export type KeysByVersion = Map<bigint, Uint8Array[]>

/**
 * The store is ordered by key, so this takes one pass over all keys to count writes, and one more for each slice of
 * versions. Memory is bounded.
 */
export function* keysByVersion(
  store: LmdbStore,
  snapshot: () => ReadSnapshot,
  first: bigint,
  last: bigint,
): Generator<KeysByVersion> {
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
    const cursor = new RevisionCursor(store)
    for (const keys of keyPages(store, EVERY_KEY, EVERY_KEY, snapshot)) {
      for (const key of keys) {
        cursor.open(key, snapshot())
        let isThere = cursor.newestAtMost(to)
        for (; isThere && cursor.version >= from; isThere = cursor.older()) yield { version: cursor.version, key }
      }
    }
  }
}
