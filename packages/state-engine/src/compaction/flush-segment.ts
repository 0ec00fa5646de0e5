import { addTruncation } from '@ledger-state/engine/authoring'
import type { RecordBuilder } from '../bytes/record.js'
import { hashSeedOf, LEDGER_KEY, type LmdbStore } from '../lmdb/lmdb-store.js'
import type { Segment } from '../memtable/segment.js'
import { decodeLedgerRecord, encodeLedgerRecord, type LedgerRecord, NOTHING_MERGED } from '../records/ledger-record.js'
import { putMark } from '../records/mark.js'
import { putSegmentRow, type SegmentRow } from '../records/segment-rows.js'
import { getTruncations, putTruncations } from '../records/truncations.js'
import { putMemtable } from '../segments/put-memtable.js'
import { segmentPath } from '../segments/segment-names.js'
import { SegmentWriter, type WrittenSegment } from '../segments/segment-writer.js'

export type FileFacts = Pick<LmdbStore, 'path' | 'storeId' | 'durability'>

/**
 * Writes a sealed part of the memtable into a file of level 0, in steps of about a millisecond. Returns the row of the file,
 * which no transaction has yet; undefined if nothing was written.
 */
export function* flushSegment(
  { path, storeId, durability }: FileFacts,
  segment: Segment,
  file: number,
): Generator<void, SegmentRow | undefined> {
  // All versions may have been cut off. Otherwise there is a file, also of versions without writes: `expectAllVersions`.
  if (segment.versionCount === 0) return undefined
  const { firstVersion } = segment
  const lastVersion = segment.head!.latestVersion
  const identity = { storeId, firstVersion, lastVersion, hashSeed: hashSeedOf({ storeId }), level: 0, isBase: false }
  const writer = new SegmentWriter(segmentPath(path, file), identity, { isDurable: durability !== 'none' })
  try {
    yield* putMemtable(segment, writer)
    return toRow(writer.finish(), { firstVersion, lastVersion, level: 0, isBase: false, file })
  } catch (error) {
    writer.abort()
    throw error
  }
}

/** The row of a file that was written. */
export function toRow(
  { summary, fileBytes }: WrittenSegment,
  place: Pick<SegmentRow, 'firstVersion' | 'lastVersion' | 'level' | 'isBase' | 'file'>,
): SegmentRow {
  const { writes, keys, payloadBytes, sha256 } = summary
  return { ...place, until: place.lastVersion, fileBytes, writes, keys, payloadBytes, sha256 }
}

/**
 * Makes the file of a part of the memtable, whose row is undefined if it has none, a part of the store, within the
 * transaction of the caller. `walFile` is the WAL file that follows the part.
 */
export function putFlushed(
  store: LmdbStore,
  builder: RecordBuilder,
  segment: Segment,
  row: SegmentRow | undefined,
  walFile: number,
): void {
  const bytes = store.meta.getBinary(LEDGER_KEY)
  const before = bytes ? decodeLedgerRecord(bytes) : emptyLedger(segment, walFile)
  const { latestVersion, latestBlock, mark, number } = segment.head!
  // The transaction was committed earlier, and the WAL file could not be removed.
  if (before.nextCommit > number) return
  if (row) putSegmentRow(store, builder, row)
  putMark(store, builder, mark)
  if (segment.truncations.length > 0) {
    putTruncations(store, builder, segment.truncations.reduce(addTruncation, getTruncations(store)))
  }
  const record: LedgerRecord = {
    ...before,
    ledger: { ...before.ledger, latestVersion, latestBlock },
    walFile,
    nextCommit: number + 1,
    nextGeneration: Math.max(before.nextGeneration, row ? row.file + 1 : 0),
    blocks: before.blocks + blocksFrom(segment, before.ledger.oldestVersion),
  }
  store.meta.putSync(LEDGER_KEY, encodeLedgerRecord(builder, record))
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
