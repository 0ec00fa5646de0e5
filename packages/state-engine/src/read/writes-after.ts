import { isLedgerStateError, partitionPoint } from '@ledger-state/core'
import { SegmentCursor } from '../segments/segment-cursor.js'
import type { SegmentReader } from '../segments/segment-reader.js'
import { countSegmentBlocks } from './merged-blocks.js'
import type { SegmentSlice } from './segment-slices.js'

/** Most writes of a file whose versions are listed. That takes about 50 ms, once for a file. */
const MOST_LISTED = 2 ** 17

/** Lists of the versions of all writes of a file, which never changes; undefined for a damaged one. */
export type VersionLists = WeakMap<SegmentReader, Float64Array | undefined>

/**
 * Number of writes of a segment file after a version. It is exact for a file that begins after the version, and for one with
 * few writes; otherwise the writes are shared among the blocks of the file.
 */
export function writesAfter(slice: SegmentSlice, version: bigint, lists: VersionLists): number {
  const { row, reader, most } = slice
  if (row.until <= version) return 0
  const isWhole = row.firstVersion > version && row.until === row.lastVersion
  if (isWhole) return row.writes
  const versions = row.writes <= MOST_LISTED ? versionsOf(reader, lists) : undefined
  if (versions) {
    const countAtMost = (last: number) => partitionPoint(versions, (one) => one <= last)
    return countAtMost(most) - countAtMost(Number(version - row.firstVersion))
  }
  const blocks = countSegmentBlocks([slice], row.firstVersion, row.lastVersion)
  const later = countSegmentBlocks([slice], version + 1n, row.until)
  return Math.round((row.writes * later) / Math.max(1, blocks))
}

/** Versions of all writes in order, less the first version of the file. Undefined if the file is damaged: reads report it. */
function versionsOf(reader: SegmentReader, lists: VersionLists): Float64Array | undefined {
  if (lists.has(reader)) return lists.get(reader)
  const versions = listVersions(reader)
  lists.set(reader, versions)
  return versions
}

function listVersions(reader: SegmentReader): Float64Array | undefined {
  const versions: number[] = []
  try {
    const cursor = new SegmentCursor(reader)
    while (cursor.next()) {
      const { entry } = cursor
      for (let write = 0; write < entry.count; write++) versions.push(entry.versions[write]!)
    }
  } catch (error) {
    if (isLedgerStateError(error, 'store_corrupt')) return undefined
    throw error
  }
  return Float64Array.from(versions).sort()
}
