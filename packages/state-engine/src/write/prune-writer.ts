import { setImmediate as nextTurn } from 'node:timers/promises'
import { noLedger, type PruneOptions, type PruneResult } from '@ledger-state/engine'
import { expectCount, expectObject, windowStart } from '@ledger-state/engine/authoring'
import { pruneStep, raiseOldest } from './prune-store.js'
import type { WriterParts } from './writer-parts.js'

/** Raises the oldest version of a store, and removes what no kept version sees, step by step. */
export class PruneWriter {
  readonly #parts: WriterParts

  constructor(parts: WriterParts) {
    this.#parts = parts
  }

  /** Prunes a store. @throws as `StateWriter.prune` */
  async prune(retainVersions: bigint, options: PruneOptions = {}): Promise<PruneResult> {
    const { store, builder, reads, transactions, atFailpoint, onChange, inTurn, expectOpen } = this.#parts
    expectObject('the options of the prune', options)
    const { maxEntries = Number.POSITIVE_INFINITY } = options
    expectCount('maxEntries', maxEntries, 1)
    await inTurn(() => this.#raiseOldest(retainVersions))
    expectOpen()
    onChange()
    const { oldestVersion } = reads.snapshot().ledger!
    for (let droppedEntries = 0; ; ) {
      const step = await transactions.run(store.durability, () => {
        const dropped = pruneStep(store, builder)
        atFailpoint('prune: step before the transaction ends')
        return dropped
      })
      atFailpoint('prune: step done')
      droppedEntries += step.dropped
      if (step.done || droppedEntries >= maxEntries) return { oldestVersion, droppedEntries, done: step.done }
      await nextTurn()
      expectOpen()
    }
  }

  async #raiseOldest(retainVersions: bigint): Promise<void> {
    const { store, builder, reads, log, transactions, atFailpoint } = this.#parts
    const { ledger, record } = reads.snapshot()
    if (!ledger || !record) throw noLedger()
    const { firstVersion, block } = reads.blockAt(windowStart(ledger, retainVersions))
    if (firstVersion <= ledger.oldestVersion) return
    // The window must not begin above the versions that are on disk.
    if (firstVersion > record.ledger.latestVersion && store.durability !== 'none') await log.sync()
    await transactions.run(store.durability, () => {
      raiseOldest(store, builder, firstVersion, block)
      atFailpoint('prune: floor raised')
    })
  }
}
