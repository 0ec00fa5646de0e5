import type { BlockInfo } from '@ledger-state/core'
import { type LedgerSummary, noLedger, type TruncateOptions, type Truncation } from '@ledger-state/engine'
import { addTruncation, expectKept, nextTruncation, validateTruncation } from '@ledger-state/engine/authoring'
import type { RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { countSegmentBlocks } from '../read/merged-blocks.js'
import { getLedgerRecord, type LedgerRecord, putLedgerRecord } from '../records/ledger-record.js'
import { putMark } from '../records/mark.js'
import { listSegmentRows, putSegmentRow, removeSegmentRow } from '../records/segment-rows.js'
import { getTruncations, putTruncations } from '../records/truncations.js'
import type { FollowingFile } from '../wal/appender.js'
import type { WriterParts, WriterReads } from './writer-parts.js'

interface MergedTruncation {
  readonly truncation: Truncation
  readonly latestBlock: BlockInfo
  readonly mark: Uint8Array | undefined
  /** Number of the file to which later commits go. */
  readonly walFile: number
  readonly nextCommit: number
  /** Number of blocks in segment files that are cut off. */
  readonly droppedBlocks: number
}

/** Cuts off all versions above one. @throws as `StateWriter.truncateTo` */
export async function truncateTo(parts: WriterParts, version: bigint, options: TruncateOptions): Promise<void> {
  const { store, reads, log, merges, expectOpen, onChange } = parts
  validateTruncation(options)
  expectKeptVersion(reads, version)
  const { segment } = log
  // Versions below the newest segment are cut off in segment files.
  const isInSegment = segment && segment.versionCount > 0 && version >= segment.firstVersion - 1n
  if (!isInSegment && log.memtable.segments.length > 1) await merges.settled()
  expectOpen()
  const { ledger, record } = expectKeptVersion(reads, version)
  store.expectInPlace()
  const { block: latestBlock } = reads.blockAt(version)
  const content = { truncation: nextTruncation(ledger, version), latestBlock, mark: options.mark }
  if (isInSegment || version >= record.ledger.latestVersion) {
    log.placeTruncation({ ...content, chainId: ledger.chainId })
    const { count, failure } = await log.write('truncation')
    if (count === 0) throw failure
    reads.noticeCommit()
  } else await truncateMerged(parts, content)
  onChange()
}

/** Checks that a version is kept, and returns the state that has it. */
function expectKeptVersion(
  reads: WriterReads,
  version: bigint,
): { readonly ledger: LedgerSummary; readonly record: LedgerRecord } {
  const { ledger, record } = reads.snapshot()
  if (!ledger || !record) throw noLedger()
  expectKept(version, ledger)
  return { ledger, record }
}

async function truncateMerged(
  { store, builder, obsolete, log, reads, transactions, atFailpoint }: WriterParts,
  content: Pick<MergedTruncation, 'truncation' | 'latestBlock' | 'mark'>,
): Promise<void> {
  const { ledger, slices } = reads.snapshot()
  const droppedBlocks = countSegmentBlocks(slices, content.truncation.version + 1n, ledger!.latestVersion)
  let removed: readonly number[] = []
  const truncate = async ({ walFile, nextCommit }: FollowingFile) => {
    atFailpoint('truncation: file created')
    await transactions.runInTurn(transactions.ofLog, () => {
      removed = truncateSegments(store, builder, { ...content, walFile, nextCommit, droppedBlocks })
      atFailpoint('truncation: before the transaction ends')
    })
  }
  await transactions.inTurn(() => log.bypass('truncation: committed', truncate))
  await obsolete.remove(removed)
}

/**
 * Cuts off versions that are in segment files, within the transaction of the caller. Returns the numbers of the files that
 * the store has no more.
 */
function truncateSegments(store: LmdbStore, builder: RecordBuilder, content: MergedTruncation): number[] {
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
