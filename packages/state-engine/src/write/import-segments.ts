import { Buffer } from 'node:buffer'
import type { BlockInfo, KeyedEntry } from '@ledger-state/core'
import { duplicateKey, valueToStored } from '@ledger-state/engine/authoring'
import { toRow } from '../compaction/write-segments.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { SegmentSlice } from '../read/segment-slices.js'
import { newestInSlices } from '../read/segment-slices.js'
import type { SegmentRow } from '../records/segment-rows.js'
import { SegmentMatch } from '../segments/block-search.js'
import { ABSENT } from '../segments/found.js'
import { createKeyProbe, hashSeedOf } from '../segments/key-filter.js'
import { segmentPath } from '../segments/segment-names.js'
import { SegmentWriter } from '../segments/segment-writer.js'

/** Versions of a file span less than this, so that their differences are exact numbers. */
const MOST_SPAN_BITS = 52n

/**
 * Writes the entries of a part of an import into files, whose rows no transaction has yet. Files of earlier parts are
 * `imported`. @throws `duplicate_key`
 */
export function writeImportedPart(
  store: LmdbStore,
  version: bigint,
  entries: readonly KeyedEntry[],
  imported: readonly SegmentSlice[],
  takeNumber: () => number,
): SegmentRow[] {
  const sorted = areAscending(entries) ? entries : entries.toSorted((a, b) => Buffer.compare(a.key, b.key))
  const probe = createKeyProbe(store)
  const match = new SegmentMatch()
  for (const [at, { key }] of sorted.entries()) {
    const isRepeated = at > 0 && Buffer.compare(sorted[at - 1]!.key, key) === 0
    if (isRepeated || newestInSlices(imported, probe.take(key), match) !== ABSENT) throw duplicateKey(version)
  }
  const spans = Map.groupBy(sorted, (entry) => entry.version >> MOST_SPAN_BITS)
  return [...spans.values()].map((part) => writeFile(store, version, part, takeNumber()))
}

/** Whether entries come in the order of keys, as in a state snapshot. */
function areAscending(entries: readonly KeyedEntry[]): boolean {
  return entries.every(({ key }, at) => at === 0 || Buffer.compare(entries[at - 1]!.key, key) < 0)
}

/** Writes a file that has only the block of an imported state. */
export function writeImportedBlock(store: LmdbStore, version: bigint, block: BlockInfo, file: number): SegmentRow {
  return writeFile(store, version, [], file, block)
}

function writeFile(
  store: LmdbStore,
  version: bigint,
  entries: readonly KeyedEntry[],
  file: number,
  block?: BlockInfo,
): SegmentRow {
  const firstVersion = entries.reduce((least, entry) => (entry.version < least ? entry.version : least), version)
  const place = { firstVersion, lastVersion: version, level: 0, isBase: true }
  const identity = { storeId: store.segmentsId, hashSeed: hashSeedOf(store), ...place }
  const writer = new SegmentWriter(segmentPath(store.path, file), identity, { isDurable: false })
  try {
    if (block) writer.addBlock({ firstVersion: version, block })
    for (const { key, version: written, value, annotation } of entries) {
      const stored = valueToStored(value, annotation)
      writer.beginKey(key, 0, key.length)
      writer.add(Number(written - firstVersion), stored, 0, stored.length)
    }
    return toRow(writer.finish(), { ...place, file })
  } catch (error) {
    writer.abort()
    throw error
  }
}
