import { addTruncation } from '@ledger-state/engine/authoring'
import type { RecordBuilder } from '../bytes/record.js'
import { storeFailedErrors } from '../errors.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { Segment } from '../memtable/segment.js'
import { getLedgerRecord, type LedgerRecord, NOTHING_MERGED, putLedgerRecord } from '../records/ledger-record.js'
import { putMark } from '../records/mark.js'
import { putSegmentRow, type SegmentRow } from '../records/segment-rows.js'
import { getTruncations, putTruncations } from '../records/truncations.js'
import { putMemtable } from '../segments/put-memtable.js'
import type { SegmentSink } from '../segments/split-writer.js'
import { type FileFacts, mostFiles, writeSegments } from './write-segments.js'

/** Share of sorting in the work, estimated. */
const SORT_SHARE = 0.15

/**
 * Writes a sealed part of the memtable into files of level 0, in steps of some milliseconds. Each step yields the share
 * of the work that is done. Returns their rows, which no transaction has yet. The first file has the number `file`; the
 * part needs `filesOfFlush` of them at most. A thread may sort more keys in a step.
 * @throws `store_failed`, and leaves no file, if a write would be missing; errors of the system
 */
export function* flushSegment(
  facts: FileFacts,
  segment: Segment,
  file: number,
  stepKeys?: number,
): Generator<number, readonly SegmentRow[]> {
  // All versions may have been cut off. Otherwise there is a file, even for versions without writes:
  // `expectAllVersions`.
  if (segment.versionCount === 0) return []
  for (const _ of segment.sortInSteps(stepKeys)) yield SORT_SHARE * segment.sortedShare
  const { firstVersion } = segment
  const place = { firstVersion, lastVersion: segment.head!.latestVersion, level: 0, isBase: false, file }
  const put = function* (sink: SegmentSink): Generator<number, void> {
    let writes = 0
    for (const count of putMemtable(segment, sink)) {
      writes += count
      yield SORT_SHARE + ((1 - SORT_SHARE) * writes) / Math.max(1, segment.entryCount)
    }
    // The WAL file is removed next, and it has the only other copy.
    if (writes !== segment.entryCount) throw storeFailedErrors.writesLeftOut(writes, segment.entryCount)
  }
  const { rows } = yield* writeSegments(facts, place, 'none', put)
  return rows
}

export function filesOfFlush({ length, entryCount }: Segment): number {
  return mostFiles(length, entryCount)
}

/**
 * Makes the files of a part of the memtable a part of the store, within the transaction of the caller. `walFile` is the WAL
 * file that follows the part.
 */
export function putFlushed(
  store: LmdbStore,
  builder: RecordBuilder,
  segment: Segment,
  rows: readonly SegmentRow[],
  walFile: number,
): void {
  const before = getLedgerRecord(store) ?? emptyLedger(segment, walFile)
  const { latestVersion, latestBlock, mark, number } = segment.head!
  // The transaction was committed earlier, and the WAL file could not be removed.
  if (before.nextCommit > number) return
  for (const row of rows) putSegmentRow(store, builder, row)
  putMark(store, builder, mark)
  if (segment.truncations.length > 0) {
    putTruncations(store, builder, segment.truncations.reduce(addTruncation, getTruncations(store)))
  }
  putLedgerRecord(store, builder, {
    ...before,
    ledger: { ...before.ledger, latestVersion, latestBlock },
    walFile,
    nextCommit: number + 1,
    nextFile: Math.max(before.nextFile, ...rows.map((row) => row.file + 1)),
    files: before.files + rows.length,
    blocks: before.blocks + blocksFrom(segment, before.ledger.oldestVersion),
  })
}

/** Number of blocks that begin at or above the oldest version. */
function blocksFrom({ blocks }: Segment, oldestVersion: bigint): number {
  return oldestVersion === 0n ? blocks.count : blocks.countAbove(oldestVersion - 1n)
}

/** The ledger record of an empty store, whose window begins with a part of the memtable. */
function emptyLedger({ blocks, firstVersion, head }: Segment, walFile: number): LedgerRecord {
  const { chainId, latestVersion, latestBlock } = head!
  const oldest = { oldestVersion: firstVersion, oldestBlock: blocks.at(0).block }
  return {
    ledger: { chainId, latestVersion, latestBlock, ...oldest },
    base: { version: firstVersion, complete: firstVersion === 0n },
    walFile,
    nextCommit: head!.number,
    ...NOTHING_MERGED,
  }
}
