import { fileURLToPath } from 'node:url'
import type { LedgerSummary } from '@ledger-state/engine'
import { expect } from 'vitest'
import { openStateEngine } from '../src/open-state-engine.ts'
import { differences, KNOWN_CHAIN, knownVersion } from './known-ledger.ts'

/** Program that commits, rotates, merges and prunes all the time. */
export const BUSY_WRITER = fileURLToPath(new URL('./crash-writer.ts', import.meta.url))

/** Checks that a copy has a state that the store had at or after the ledger `before`, and that it can be continued. */
export async function expectSoundCopy(path: string, before: LedgerSummary): Promise<void> {
  const copy = openStateEngine({ path })
  const { oldestVersion, latestVersion } = copy.ledger!
  expect(latestVersion).toBeGreaterThanOrEqual(before.latestVersion)
  expect((await copy.check()).problems).toEqual([])
  for (const version of [oldestVersion, (oldestVersion + latestVersion) / 2n, latestVersion]) {
    expect(differences(copy.at(version))).toEqual([])
  }
  await copy.commit([knownVersion(latestVersion + 1n)], KNOWN_CHAIN)
  await copy.close()
}
