import { type LedgerSummary, noLedger, type TruncateOptions } from '@ledger-state/engine'
import { expectKept, nextTruncation, validateTruncation } from '@ledger-state/engine/authoring'
import { countSegmentBlocks } from '../read/merged-blocks.js'
import type { LedgerRecord } from '../records/ledger-record.js'
import type { FollowingFile } from '../wal/appender.js'
import type { WriterParts, WriterReads } from '../write/writer-parts.js'
import { type MergedTruncation, truncateSegments } from './truncate-segments.js'

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
