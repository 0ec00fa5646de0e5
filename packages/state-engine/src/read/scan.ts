import { Buffer } from 'node:buffer'
import { prefixToStoredEnd, prefixToStoredStart, storedKeyToPrefix } from '../bytes/stored-key.js'
import { readLarge } from '../databases/large-values.js'
import { LONG_KEY, largeReference, latestTail } from '../databases/latest-record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import type { ReadOptions, Table } from '../lmdb/table.js'

/** Keys that a scan takes from one snapshot, at most and at least. */
const MAX_PAGE_KEYS = 256
const MIN_PAGE_KEYS = 16

/**
 * The keys that have a record, begin with a prefix and are at or above `first`, in the order of their bytes and in pages.
 * Each page comes from the snapshot that is current when it is asked for; `wanted` says how many keys the caller still
 * wants.
 */
export function* keyPages(
  store: LmdbStore,
  prefix: Uint8Array,
  first: Uint8Array,
  options: () => ReadOptions,
  wanted: () => number = () => MAX_PAGE_KEYS,
): Generator<Uint8Array[]> {
  const begin = Buffer.compare(first, prefix) > 0 ? first : prefix
  let start: Uint8Array | undefined = prefixToStoredStart(begin)
  const end = prefixToStoredEnd(prefix)
  while (start) {
    const count = Math.max(MIN_PAGE_KEYS, Math.min(wanted(), MAX_PAGE_KEYS))
    const stored: Uint8Array[] = [...rangeOfKeys(store.latestByStoredKey, start, end, options(), count)]
    const last = stored.at(-1)
    start = last && stored.length === count ? Buffer.concat([last, Buffer.of(0)]) : undefined
    if (last && start && !storedKeyToPrefix(last).isWhole) {
      // Long keys with the same beginning are stored in the order of their hashes: all are read, to be sorted.
      const { beginning } = storedKeyToPrefix(last)
      const rest = [...rangeOfKeys(store.latestByStoredKey, start, prefixToStoredEnd(beginning), options())]
      stored.push(...rest)
      start = prefixToStoredEnd(beginning)
    }
    const keys = storedKeysToKeys(store, stored, options())
    yield keys.filter((key) => startsWith(key, prefix) && Buffer.compare(key, begin) >= 0)
  }
}

function* rangeOfKeys(
  table: Table<Uint8Array>,
  start: Uint8Array,
  end: Uint8Array,
  options: ReadOptions,
  limit?: number,
): Iterable<Uint8Array> {
  yield* table.getKeys({ start, end, ...options, ...(limit !== undefined && { limit }) })
}

/** In the order of their bytes. */
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
