import { Buffer } from 'node:buffer'
import { isSameBlock, type VersionWrites, type Write } from '@ledger-state/core'
import type { AsyncStateSnapshot } from '@ledger-state/engine'
import { isOwnKey } from '@ledger-state/records'
import { ledgerFork } from '../errors.js'
import { rootAt } from '../signatures/root-at.js'

/**
 * Compares a version of the source with the newest version of the store: its writes, its block if it begins one, and
 * the accumulator root if both know it.
 * @throws `ledger_fork`
 */
export async function expectSameVersion(
  store: AsyncStateSnapshot,
  record: VersionWrites,
  place: string,
  accumulatorRoot: Uint8Array | undefined,
): Promise<void> {
  const { version, block } = record
  // Not every source has the own keys that stores keep in addition to the state.
  const writes = record.writes.filter(([key]) => !isOwnKey(key))
  const [entries, held, heldRoot] = await Promise.all([
    store.at(version).load(writes.map(([key]) => key)),
    store.blockAt(version),
    accumulatorRoot && rootAt(store, version),
  ])
  const hasWrite = ([, value]: Write, at: number): boolean => {
    const entry = entries[at]
    if (value === null) return entry === undefined
    return entry?.version === version && Buffer.compare(entry.value, value) === 0
  }
  const hasBlock = block === undefined || held.firstVersion !== version || isSameBlock(block, held.block)
  const hasLedger = !accumulatorRoot || !heldRoot || Buffer.compare(accumulatorRoot, heldRoot) === 0
  if (!hasBlock || !hasLedger || !writes.every(hasWrite)) throw ledgerFork.otherVersionHeld(place, version)
}
