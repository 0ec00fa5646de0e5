import { Buffer } from 'node:buffer'
import { isSameBlock, type StateReader, type VersionWrites } from '@ledger-state/core'
import { otherVersionHeld } from './errors.js'

/**
 * Compares a version of the source with the newest one of the store: what it wrote, and the block that it begins.
 * @throws `ledger_fork`
 */
export function expectSameVersion(store: StateReader, record: VersionWrites, place: string): void {
  const { version, block, writes } = record
  const state = store.at(version)
  const held = store.blockAt(version)
  const hasWrite = (key: Uint8Array, value: Uint8Array | null) => {
    const entry = state.getEntry(key)
    if (value === null) return entry === undefined
    return entry?.version === version && Buffer.compare(entry.value, value) === 0
  }
  const hasBlock = block === undefined || held.firstVersion !== version || isSameBlock(block, held.block)
  if (!hasBlock || !writes.every(([key, value]) => hasWrite(key, value))) throw otherVersionHeld(place, version)
}
