import { noLedger, type PruneOptions, type PruneResult } from '@ledger-state/engine'
import { type BlockEntry, expectCount, expectObject, windowStart } from '@ledger-state/engine/authoring'
import type { RecordBuilder } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { countSegmentBlocks } from '../read/merged-blocks.js'
import { getLedgerRecord, putLedgerRecord } from '../records/ledger-record.js'
import type { WriterParts } from './writer-parts.js'

/** Raises the oldest version of a store, and lets merges remove the writes that no kept version sees. @throws as `StateWriter.prune` */
export async function prune(
  parts: WriterParts,
  retainVersions: bigint,
  options: PruneOptions = {},
): Promise<PruneResult> {
  const { reads, merges, atFailpoint, onChange, inTurn, expectOpen } = parts
  expectObject('the options of the prune', options)
  const { maxEntries = Number.POSITIVE_INFINITY } = options
  expectCount('maxEntries', maxEntries, 1)
  await inTurn(() => raiseOldest(parts, retainVersions))
  expectOpen()
  onChange()
  const { oldestVersion } = reads.snapshot().ledger!
  const { dropped, isAll } = await merges.levels.dropBelow(maxEntries)
  expectOpen()
  atFailpoint('prune: step done')
  return { oldestVersion, droppedEntries: dropped, done: isAll }
}

/** Raises the oldest version. Merges then remove the data below it. */
async function raiseOldest(parts: WriterParts, retainVersions: bigint): Promise<void> {
  const { store, builder, reads, log, transactions, merges, atFailpoint, expectOpen } = parts
  const { ledger, record } = reads.snapshot()
  if (!ledger || !record) throw noLedger()
  store.expectInPlace()
  const oldest = reads.blockAt(windowStart(ledger, retainVersions))
  if (oldest.firstVersion <= ledger.oldestVersion) return
  // The window must not begin above the versions that are on disk.
  if (oldest.firstVersion > record.ledger.latestVersion && store.durability !== 'none') await log.sync()
  await transactions.inTurn(async () => {
    expectOpen()
    // Files are opened before the transaction: a snapshot of another process waits for its end.
    const { ledger, slices } = reads.snapshot()
    const dropped = countSegmentBlocks(slices, ledger!.oldestVersion, oldest.firstVersion - 1n)
    await transactions.runInTurn(store.durability, () => {
      putOldest(store, builder, oldest, dropped)
      atFailpoint('prune: floor raised')
    })
  })
  merges.levels.start()
}

/**
 * Makes the window begin with a block, within the transaction of the caller. The block may be above the merged
 * versions. After the transaction, readers refuse versions below it. `droppedBlocks` is the number of blocks in segment
 * files that are now below it.
 */
function putOldest(
  store: LmdbStore,
  builder: RecordBuilder,
  { firstVersion: oldestVersion, block: oldestBlock }: BlockEntry,
  droppedBlocks: number,
): void {
  const record = getLedgerRecord(store)!
  if (oldestVersion <= record.ledger.oldestVersion) return
  const ledger = { ...record.ledger, oldestVersion, oldestBlock }
  putLedgerRecord(store, builder, { ...record, ledger, blocks: record.blocks - droppedBlocks })
}
