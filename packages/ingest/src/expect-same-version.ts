import { Buffer } from 'node:buffer'
import { isOwnKey, isSameBlock, type VersionWrites, type Write } from '@ledger-state/core'
import type { AsyncStateSnapshot } from '@ledger-state/engine'
import { otherVersionHeld } from './errors.js'

/**
 * Compares a version of the source with the newest one of the store: what it wrote, and the block that it begins.
 * @throws `ledger_fork`
 */
export async function expectSameVersion(
  store: AsyncStateSnapshot,
  record: VersionWrites,
  place: string,
): Promise<void> {
  const { version, block } = record
  // Not every source has what stores keep in addition to the state.
  const writes = record.writes.filter(([key]) => !isOwnKey(key))
  const [entries, held] = await Promise.all([
    store.at(version).load(writes.map(([key]) => key)),
    store.blockAt(version),
  ])
  const hasWrite = ([, value]: Write, at: number): boolean => {
    const entry = entries[at]
    if (value === null) return entry === undefined
    return entry?.version === version && Buffer.compare(entry.value, value) === 0
  }
  const hasBlock = block === undefined || held.firstVersion !== version || isSameBlock(block, held.block)
  if (!hasBlock || !writes.every(hasWrite)) throw otherVersionHeld(place, version)
}
