import { Buffer } from 'node:buffer'
import type { KeyedEntry } from '@ledger-state/core'
import { beginsWith } from '@ledger-state/core/bytes'
import { storedToValue } from '@ledger-state/engine/authoring'
import { SegmentMatch } from '../segments/block-search.js'
import { copyPart } from '../segments/byte-output.js'
import { ABSENT, PRESENT } from '../segments/found.js'
import { SegmentKeys } from '../segments/segment-keys.js'
import { type SegmentSlice, versionInSlice } from './segment-slices.js'

/** A key that a scan meets. */
export interface ScannedKey {
  readonly key: Uint8Array
  /** The entry that segment files have for the version; null if they have none, undefined if that is not known. */
  readonly merged: KeyedEntry | null | undefined
}

/** Keys of one source, ascending. */
export interface SourceKeys {
  readonly keys: readonly ScannedKey[]
  /** Whether the source has no further keys. */
  readonly isWhole: boolean
}

export interface KeyRange {
  readonly prefix: Uint8Array
  /** Where the keys begin, at or above the prefix. */
  readonly begin: Uint8Array
  /** Most keys. */
  readonly count: number
  /** Most entries to read. */
  readonly wanted: number
  /** Version of the entries, as halves. */
  readonly high: number
  readonly low: number
}

/** Bytes of values after which a page ends. */
const VALUES_OF_PAGE = 2 ** 16

const MATCH = new SegmentMatch()

/**
 * The first keys in segment files that begin with a prefix and are at or above a key, each once, with their entries: a cursor
 * finds the write of its key in half the time of a look-up.
 * @throws `store_corrupt`
 */
export function firstSegmentKeys(slices: readonly SegmentSlice[], range: KeyRange): SourceKeys {
  const { prefix, begin, count, wanted } = range
  const cursors = slices.map((slice) => {
    const keys = new SegmentKeys(slice.reader)
    keys.seek(begin)
    return { keys, slice, most: versionInSlice(slice, range.high, range.low) }
  })
  const keys: ScannedKey[] = []
  let bytes = 0
  let present = 0
  for (;;) {
    const least = leastOf(cursors)
    if (!least || !beginsWith(least, prefix)) return { keys, isWhole: true }
    if (keys.length === count || bytes >= VALUES_OF_PAGE) return { keys, isWhole: false }
    const merged = present < wanted ? entryOf(least, cursors) : undefined
    if (merged) {
      present++
      bytes += merged.value.length
    }
    keys.push({ key: least, merged })
    for (const { keys } of cursors) if (isAt(keys, least)) keys.next()
  }
}

interface Cursor {
  readonly keys: SegmentKeys
  readonly slice: SegmentSlice
  /** Newest version that is read, less the first of the file. */
  readonly most: number
}

function leastOf(cursors: readonly Cursor[]): Uint8Array | undefined {
  let least: Uint8Array | undefined
  for (const { keys } of cursors) {
    const { key } = keys
    if (key && (!least || Buffer.compare(key, least) < 0)) least = key
  }
  return least
}

function isAt({ key }: SegmentKeys, least: Uint8Array): boolean {
  return key === least || (key !== undefined && Buffer.compare(key, least) === 0)
}

/** The newest files come first. */
function entryOf(key: Uint8Array, cursors: readonly Cursor[]): KeyedEntry | null | undefined {
  for (const { keys, slice, most } of cursors) {
    if (!isAt(keys, key)) continue
    const found = keys.find(most, MATCH)
    if (found === ABSENT) continue
    if (found !== PRESENT) return found === undefined ? undefined : null
    const { value, annotation } = storedToValue(copyPart(MATCH.bytes, MATCH.start, MATCH.end))
    const version = slice.row.firstVersion + BigInt(MATCH.version)
    return annotation ? { key, version, value, annotation } : { key, version, value }
  }
  return null
}
