import { setImmediate as nextTurn } from 'node:timers/promises'
import { noLedger, type PruneOptions, type PruneResult } from '@ledger-state/engine'
import { type BlockEntry, expectCount, expectObject, windowStart } from '@ledger-state/engine/authoring'
import type { MergeScheduler } from '../compaction/merge-scheduler.js'
import { type PruneStep, pruneStep, raiseOldest } from '../compaction/prune-store.js'
import { countSegmentBlocks } from '../read/merged-blocks.js'
import type { WriterParts } from './writer-parts.js'

/** Raises the oldest version of a store, and removes what no kept version sees, step by step. */
export class PruneWriter {
  readonly #parts: WriterParts
  readonly #merges: MergeScheduler

  constructor(parts: WriterParts, merges: MergeScheduler) {
    this.#parts = parts
    this.#merges = merges
  }

  /** Prunes a store. @throws as `StateWriter.prune` */
  async prune(retainVersions: bigint, options: PruneOptions = {}): Promise<PruneResult> {
    const { store, reads, atFailpoint, onChange, inTurn, expectOpen } = this.#parts
    expectObject('the options of the prune', options)
    const { maxEntries = Number.POSITIVE_INFINITY } = options
    expectCount('maxEntries', maxEntries, 1)
    let step = await inTurn(() => this.#firstStep(retainVersions))
    expectOpen()
    onChange()
    const { oldestVersion } = reads.snapshot().ledger!
    if (store.segments) {
      const { dropped, isAll } = await this.#merges.dropBelow(maxEntries)
      expectOpen()
      atFailpoint('prune: step done')
      return { oldestVersion, droppedEntries: dropped, done: isAll }
    }
    for (let droppedEntries = 0; ; ) {
      droppedEntries += step.dropped
      atFailpoint('prune: step done')
      if (step.done || droppedEntries >= maxEntries) return { oldestVersion, droppedEntries, done: step.done }
      await nextTurn()
      expectOpen()
      step = await this.#step(undefined, maxEntries - droppedEntries)
    }
  }

  /**
   * Raises the oldest version and runs the first step in one transaction: each takes a millisecond to end, however little
   * it did. Commits wait for it, so it is short.
   */
  async #firstStep(retainVersions: bigint): Promise<PruneStep> {
    const { store, reads, log } = this.#parts
    const { ledger, record } = reads.snapshot()
    if (!ledger || !record) throw noLedger()
    const block = reads.blockAt(windowStart(ledger, retainVersions))
    if (block.firstVersion <= ledger.oldestVersion) return this.#step(undefined, 1)
    // The window must not begin above the versions that are on disk.
    if (block.firstVersion > record.ledger.latestVersion && store.durability !== 'none') await log.sync()
    return this.#step(block, 1)
  }

  /** Raises the oldest version of a store with segment files. Merges remove what is below it. */
  async #raise(oldest: BlockEntry | undefined): Promise<PruneStep> {
    const { store, builder, reads, transactions, atFailpoint, expectOpen } = this.#parts
    store.expectInPlace()
    if (oldest) {
      await transactions.inTurn(() => {
        expectOpen()
        // Files are opened before the transaction: a snapshot of another process waits for its end.
        const { ledger, slices } = reads.snapshot()
        const dropped = countSegmentBlocks(slices, ledger!.oldestVersion, oldest.firstVersion - 1n)
        transactions.runNow(store.durability, () => {
          raiseOldest(store, builder, oldest, dropped)
          atFailpoint('prune: floor raised')
        })
      })
      this.#merges.startLevels()
    }
    return { dropped: 0, done: true }
  }

  /**
   * Runs a transaction of the prune, in the thread of merges if it is available, where it may have several steps.
   * @param oldest block with which the window begins from now on; undefined if that stays
   * @param maxEntries number of dropped entries after which no step follows
   */
  #step(oldest: BlockEntry | undefined, maxEntries: number): Promise<PruneStep> {
    const { store, builder, transactions, atFailpoint, expectOpen } = this.#parts
    if (store.segments) return this.#raise(oldest)
    return transactions.inTurn(() => {
      expectOpen()
      const thread = this.#merges.availableThread
      if (thread) return transactions.runElsewhere(() => thread.ask({ kind: 'prune', oldest, maxEntries }))
      return transactions.runNow(store.durability, () => {
        if (oldest) {
          raiseOldest(store, builder, oldest)
          atFailpoint('prune: floor raised')
        }
        const step = pruneStep(store, builder)
        atFailpoint('prune: step before the transaction ends')
        return step
      })
    })
  }
}
