import type { MergedWrites, StoredWrite } from '@ledger-state/engine'
import { storedToValue } from '@ledger-state/engine/authoring'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { DELETED } from '../segments/entry-reader.js'
import { SegmentCursor } from '../segments/segment-cursor.js'
import type { ReadSnapshot } from './read-snapshot.js'
import { NO_SLICES, SegmentFiles, type SegmentSlice } from './segment-slices.js'

/**
 * Opens the segment files of a state. It has files of its own, so they can be read while other reads see newer states.
 * @param snapshot the present snapshot
 * @param forget makes the next snapshot see the newest state
 */
export function openMergedWrites(store: LmdbStore, snapshot: () => ReadSnapshot, forget: () => void): MergedWrites {
  const files = new SegmentFiles(store)
  const close = () => files.keep(NO_SLICES)
  try {
    const { slices, last } = openSlices(files, snapshot, forget)
    return {
      last,
      count: slices.reduce((sum, { row }) => sum + row.writes, 0),
      writes: (first, until) => readWrites(slices, first, until),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

/** Opens the files of the present state, the oldest first, and of a newer one if a file is gone. */
function openSlices(
  files: SegmentFiles,
  snapshot: () => ReadSnapshot,
  forget: () => void,
): { readonly slices: readonly SegmentSlice[]; readonly last: bigint | undefined } {
  let missing: number | undefined
  for (;;) {
    const { record, slices } = snapshot()
    const opened = files.take(slices.map(({ row }) => row).toReversed())
    // A segment of several files has its first keys in the first of them.
    if (typeof opened !== 'number') return { slices: opened.toReversed(), last: record?.ledger.latestVersion }
    if (opened === missing) files.failMissing(opened)
    missing = opened
    forget()
  }
}

function* readWrites(slices: readonly SegmentSlice[], first: bigint, last: bigint): Generator<StoredWrite> {
  for (const { row, reader } of slices) {
    if (row.firstVersion > last || row.until < first) continue
    const most = Number((last < row.until ? last : row.until) - row.firstVersion)
    const least = first > row.firstVersion ? Number(first - row.firstVersion) : 0
    const cursor = new SegmentCursor(reader)
    let isNewKey = true
    while (cursor.next()) {
      const { entry } = cursor
      isNewKey ||= cursor.isNewKey
      for (let write = 0; write < entry.count; write++) {
        const version = entry.versions[write]!
        if (version < least || version > most) continue
        const end = entry.ends[write]!
        const stored = end === DELETED ? undefined : storedToValue(entry.bytes.subarray(entry.starts[write]!, end))
        yield {
          version: row.firstVersion + BigInt(version),
          key: cursor.key.view(),
          isNewKey,
          value: stored ? stored.value : null,
          annotation: stored?.annotation,
        }
        isNewKey = false
      }
    }
  }
}
