import { hash } from 'node:crypto'
import { type StateEntry, versionPruned } from '@ledger-state/core'
import { LOOK_UP, type LookUpRow } from './questions.js'
import type { Servers } from './servers.js'
import { createTickBatch } from './tick-batch.js'

/** Look-ups of one statement. */
const MOST = 500

export interface LookUp {
  readonly key: Uint8Array
  readonly version: bigint
}

export interface LookedUp {
  readonly entry: StateEntry | undefined
  /** That of the server when it answered. */
  readonly oldestVersion: bigint
}

/** Keys are found by their SHA-256, 32 bytes: index entries of PostgreSQL end near 2,700 bytes, keys at 64 KiB. */
export function hashKey(key: Uint8Array): Buffer {
  return hash('sha256', key, 'buffer')
}

/** Looks keys up; those of one tick go in one statement. @throws `version_pruned` where a version was pruned meanwhile */
export function createLookUps(
  servers: Servers,
  onWindow: (latestVersion: bigint, oldestVersion: bigint, askedAt: number) => void,
): (lookUp: LookUp) => Promise<StateEntry | undefined> {
  const lookUp = createTickBatch(MOST, async (lookUps: readonly LookUp[]): Promise<LookedUp[]> => {
    const askedAt = performance.now()
    const { rows, latestVersion, oldestVersion } = await servers.ask<LookUpRow & Record<string, unknown>>({
      name: 'look-up',
      text: LOOK_UP,
      values: [lookUps.map(({ key }) => hashKey(key)), lookUps.map(({ version }) => String(version))],
      version: lookUps.reduce((most, { version }) => (version > most ? version : most), 0n),
    })
    onWindow(latestVersion, oldestVersion, askedAt)
    const entries: (StateEntry | undefined)[] = new Array(lookUps.length).fill(undefined)
    for (const { place, version, value } of rows) entries[Number(place) - 1] = { version: BigInt(version), value }
    return entries.map((entry) => ({ entry, oldestVersion }))
  })
  return async (asked) => {
    const { entry, oldestVersion } = await lookUp(asked)
    if (asked.version < oldestVersion) throw versionPruned(asked.version, oldestVersion)
    return entry
  }
}
