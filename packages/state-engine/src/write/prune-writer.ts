import { noLedger, type PruneOptions, type PruneResult } from '@ledger-state/engine'
import { type BlockEntry, expectCount, expectObject, windowStart } from '@ledger-state/engine/authoring'
import type { RecordBuilder } from '../bytes/record.js'
import type { MergeScheduler } from '../compaction/merge-scheduler.js'
import { LEDGER_KEY, type LmdbStore } from '../lmdb/lmdb-store.js'
import { countSegmentBlocks } from '../read/merged-blocks.js'
import { decodeLedgerRecord, encodeLedgerRecord } from '../records/ledger-record.js'
import type { WriterParts } from './writer-parts.js'

/** Raises the oldest version of a store, and lets merges remove the writes that no kept version sees. */
export class PruneWriter {
  readonly #parts: WriterParts
  readonly #merges: MergeScheduler

  constructor(parts: WriterParts, merges: MergeScheduler) {
    this.#parts = parts
    this.#merges = merges
  }

  /** Prunes a store. @throws as `StateWriter.prune` */
  async prune(retainVersions: bigint, options: PruneOptions = {}): Promise<PruneResult> {
    const { reads, atFailpoint, onChange, inTurn, expectOpen } = this.#parts
    expectObject('the options of the prune', options)
    const { maxEntries = Number.POSITIVE_INFINITY } = options
    expectCount('maxEntries', maxEntries, 1)
    await inTurn(() => this.#raise(retainVersions))
    expectOpen()
    onChange()
    const { oldestVersion } = reads.snapshot().ledger!
    const { dropped, isAll } = await this.#merges.dropBelow(maxEntries)
    expectOpen()
    atFailpoint('prune: step done')
    return { oldestVersion, droppedEntries: dropped, done: isAll }
  }

  /** Raises the oldest version. Merges then remove the data below it. */
  async #raise(retainVersions: bigint): Promise<void> {
    const { store, builder, reads, log, transactions, atFailpoint, expectOpen } = this.#parts
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
        raiseOldest(store, builder, oldest, dropped)
        atFailpoint('prune: floor raised')
      })
    })
    this.#merges.startLevels()
  }
}

/**
 * Makes the window begin with a block, within the transaction of the caller. The block may be above the merged
 * versions. After the transaction, readers refuse versions below it. `droppedBlocks` is the number of blocks in segment
 * files that are now below it.
 */
function raiseOldest(
  store: LmdbStore,
  builder: RecordBuilder,
  { firstVersion: oldestVersion, block: oldestBlock }: BlockEntry,
  droppedBlocks: number,
): void {
  const record = decodeLedgerRecord(store.meta.getBinary(LEDGER_KEY)!)
  if (oldestVersion <= record.ledger.oldestVersion) return
  const ledger = { ...record.ledger, oldestVersion, oldestBlock }
  const left = { ...record, ledger, blocks: record.blocks - droppedBlocks }
  store.meta.putSync(LEDGER_KEY, encodeLedgerRecord(builder, left))
}
