import { setImmediate as nextTurn } from 'node:timers/promises'
import { type LedgerSummary, noLedger, type TruncateOptions } from '@ledger-state/engine'
import { expectKept, nextTruncation, validateTruncation } from '@ledger-state/engine/authoring'
import { type MergeScheduler, SLICE_MS } from '../compaction/merge-scheduler.js'
import { countSegmentBlocks } from '../read/merged-blocks.js'
import type { LedgerRecord } from '../records/ledger-record.js'
import { getReverting } from '../records/truncations.js'
import { removeSegment } from '../segments/segment-names.js'
import type { FollowingFile } from '../wal/appender.js'
import type { WriterParts } from '../write/writer-parts.js'
import { MergedRevert } from './revert-merged.js'
import { truncateSegments } from './truncate-segments.js'
import { type MergedTruncation, truncateMerged } from './truncate-store.js'

/** Cuts off the newest versions of a store, and then removes from LMDB what they wrote. */
export class TruncationWriter {
  readonly #parts: WriterParts
  readonly #merges: MergeScheduler
  #isReverting: boolean

  constructor(parts: WriterParts, merges: MergeScheduler) {
    this.#parts = parts
    this.#merges = merges
    // The previous writer was killed before it had removed them.
    this.#isReverting = getReverting(parts.store) !== undefined
  }

  /** Whether LMDB has versions that were cut off. No commit begins until they are removed. */
  get isReverting(): boolean {
    return this.#isReverting
  }

  /** Cuts off all versions above one. @throws as `StateWriter.truncateTo` */
  async truncateTo(version: bigint, options: TruncateOptions): Promise<void> {
    const { store, reads, log, expectOpen, onChange } = this.#parts
    validateTruncation(options)
    this.#expectKept(version)
    await this.revert()
    const { segment } = log
    // Versions below the newest segment are cut off in LMDB.
    const isInSegment = segment && segment.versionCount > 0 && version >= segment.firstVersion - 1n
    if (!isInSegment && log.memtable.segments.length > 1) await this.#merges.settled()
    expectOpen()
    const { ledger, record } = this.#expectKept(version)
    store.expectInPlace()
    const { block: latestBlock } = reads.blockAt(version)
    const content = { truncation: nextTruncation(ledger, version), latestBlock, mark: options.mark }
    if (isInSegment || version >= record.ledger.latestVersion) {
      log.placeTruncation({ ...content, chainId: ledger.chainId })
      const { count, failure } = await log.write('truncation')
      if (count === 0) throw failure
      reads.noticeCommit()
    } else await this.#truncateMerged(content)
    onChange()
  }

  /**
   * Removes from LMDB what was cut off, in slices, between which other work takes place. Does nothing if there is
   * nothing to remove.
   */
  async revert(): Promise<void> {
    if (!this.#isReverting) return
    const { store, builder, log, transactions, atFailpoint, expectOpen } = this.#parts
    const revert = new MergedRevert(store, builder)
    for (let isClean = false; !isClean; ) {
      expectOpen()
      isClean = await transactions.run(transactions.ofSlice, () => this.#revertSlice(revert))
      revert.sliceCommitted()
      atFailpoint('truncation: slice done')
      await nextTurn()
    }
    expectOpen()
    const finish = (following: FollowingFile) => {
      atFailpoint('truncation: last file created')
      // Commits in that file need what the slices wrote.
      transactions.runNow(transactions.ofLog, () => {
        revert.finish(following)
        atFailpoint('truncation: before the last transaction ends')
      })
    }
    await transactions.inTurn(() => log.bypass(0, 'truncation: reverted', finish))
    this.#isReverting = false
    atFailpoint('truncation: done')
  }

  #revertSlice(revert: MergedRevert): boolean {
    const isClean = revert.slice(SLICE_MS)
    this.#parts.atFailpoint('truncation: slice before the transaction ends')
    return isClean
  }

  /** Checks that a version is kept, and returns the state that has it. */
  #expectKept(version: bigint): { readonly ledger: LedgerSummary; readonly record: LedgerRecord } {
    const { ledger, record } = this.#parts.reads.snapshot()
    if (!ledger || !record) throw noLedger()
    expectKept(version, ledger)
    return { ledger, record }
  }

  async #truncateMerged(content: Pick<MergedTruncation, 'truncation' | 'latestBlock' | 'mark'>): Promise<void> {
    const { store, builder, log, reads, transactions, atFailpoint } = this.#parts
    const { ledger, slices } = reads.snapshot()
    const droppedBlocks = store.segments
      ? countSegmentBlocks(slices, content.truncation.version + 1n, ledger!.latestVersion)
      : 0
    let removed: readonly number[] = []
    const truncate = ({ walFile, nextCommit }: FollowingFile) => {
      atFailpoint('truncation: file created')
      transactions.runNow(transactions.ofLog, () => {
        const merged = { ...content, walFile, nextCommit }
        if (store.segments) removed = truncateSegments(store, builder, { ...merged, droppedBlocks })
        else truncateMerged(store, builder, merged)
        atFailpoint('truncation: before the transaction ends')
      })
      this.#isReverting = store.segments === undefined
    }
    await transactions.inTurn(() => log.bypass(1, 'truncation: committed', truncate))
    for (const file of removed) removeSegment(store.path, file)
  }
}
