import type { BlockInfo } from '@ledger-state/core'
import type { Truncation } from '@ledger-state/engine'
import { addTruncation } from '@ledger-state/engine/authoring'
import type { RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { getLedgerRecord, putLedgerRecord } from '../records/ledger-record.js'
import { putMark } from '../records/mark.js'
import { listSegmentRows, putSegmentRow, removeSegmentRow } from '../records/segment-rows.js'
import { getTruncations, putTruncations } from '../records/truncations.js'

export interface MergedTruncation {
  readonly truncation: Truncation
  readonly latestBlock: BlockInfo
  readonly mark: Uint8Array | undefined
  /** Number of the file to which later commits go. */
  readonly walFile: number
  readonly nextCommit: number
  /** Number of blocks in segment files that are cut off. */
  readonly droppedBlocks: number
}

/**
 * Cuts off versions that are in segment files, within the transaction of the caller. Returns the numbers of the files that
 * the store has no more.
 */
export function truncateSegments(store: LmdbStore, builder: RecordBuilder, content: MergedTruncation): number[] {
  const { truncation, latestBlock, mark, walFile, nextCommit, droppedBlocks } = content
  const { version } = truncation
  const removed: number[] = []
  for (const row of listSegmentRows(store)) {
    if (row.firstVersion > version) {
      removeSegmentRow(store, row)
      removed.push(row.file)
    } else if (row.until > version) putSegmentRow(store, builder, { ...row, until: version })
  }
  putTruncations(store, builder, addTruncation(getTruncations(store), truncation))
  putMark(store, builder, mark)
  const record = getLedgerRecord(store)!
  const ledger = { ...record.ledger, latestVersion: version, latestBlock }
  const files = record.files - removed.length
  const blocks = record.blocks - droppedBlocks
  putLedgerRecord(store, builder, { ...record, ledger, walFile, nextCommit, blocks, files })
  return removed
}
