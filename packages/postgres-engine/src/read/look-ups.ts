import { hash } from 'node:crypto'
import { type StateEntry, versionPruned } from '@ledger-state/core'
import type { QueryResultRow } from 'pg'
import { LOOK_UP, LOOK_UP_AT, type LookUpAtRow, type LookUpRow } from './questions.js'
import type { Servers } from './servers.js'
import { createTickBatch } from './tick-batch.js'

/** Look-ups of one statement. */
const MOST = 500

export interface LookUp {
  readonly key: Uint8Array
  readonly version: bigint
}

interface LookedUp {
  readonly entry: StateEntry | undefined
  /** That of the server when it answered. */
  readonly oldestVersion: bigint
}

type WindowListener = (latestVersion: bigint, oldestVersion: bigint, askedAt: number) => void

/** Keys are found by their SHA-256, 32 bytes: index entries of PostgreSQL end near 2,700 bytes, keys at 64 KiB. */
export function hashKey(key: Uint8Array): Buffer {
  return hash('sha256', key, 'buffer')
}

/** Looks keys up; those of one tick go in one statement. @throws `version_pruned` where a version was pruned meanwhile */
export function createLookUps(
  servers: Servers,
  onWindow: WindowListener,
): (lookUp: LookUp) => Promise<StateEntry | undefined> {
  const lookUp = createTickBatch(MOST, (lookUps: readonly LookUp[]) =>
    servers.isSharded ? askByVersion(servers, lookUps, onWindow) : askTogether(servers, lookUps, onWindow),
  )
  return async (asked) => {
    const { entry, oldestVersion } = await lookUp(asked)
    if (asked.version < oldestVersion) throw versionPruned(asked.version, oldestVersion)
    return entry
  }
}

async function askTogether(
  servers: Servers,
  lookUps: readonly LookUp[],
  onWindow: WindowListener,
): Promise<LookedUp[]> {
  const askedAt = performance.now()
  const { rows, latestVersion, oldestVersion } = await servers.ask<LookUpRow & QueryResultRow>({
    name: 'look-up',
    text: LOOK_UP,
    values: [lookUps.map(({ key }) => hashKey(key)), lookUps.map(({ version }) => String(version))],
    version: lookUps.reduce((most, { version }) => (version > most ? version : most), 0n),
  })
  onWindow(latestVersion, oldestVersion, askedAt)
  const found = lookUps.map((): LookedUp => ({ entry: undefined, oldestVersion }))
  for (const { place, version, value } of rows) {
    found[Number(place) - 1] = { entry: { version: BigInt(version), value }, oldestVersion }
  }
  return found
}

/** One statement for each version; most requests ask for the newest. */
async function askByVersion(
  servers: Servers,
  lookUps: readonly LookUp[],
  onWindow: WindowListener,
): Promise<LookedUp[]> {
  const askedAt = performance.now()
  const hashed = lookUps.map(({ key, version }) => ({ hash: hashKey(key), version }))
  const byVersion = Map.groupBy(hashed, ({ version }) => version)
  const found = new Map<string, LookedUp>()
  const oldest = new Map<bigint, bigint>()
  const ask = async ([version, asked]: readonly [bigint, typeof hashed]): Promise<void> => {
    const { rows, latestVersion, oldestVersion } = await servers.ask<LookUpAtRow & QueryResultRow>({
      name: 'look-up at',
      text: LOOK_UP_AT,
      values: [asked.map(({ hash }) => hash), String(version)],
      version,
    })
    onWindow(latestVersion, oldestVersion, askedAt)
    oldest.set(version, oldestVersion)
    for (const row of rows) {
      const entry = { version: BigInt(row.version), value: row.value }
      found.set(`${version} ${row.key_hash.toString('latin1')}`, { entry, oldestVersion })
    }
  }
  await Promise.all([...byVersion].map(ask))
  return hashed.map(({ hash, version }) => {
    const one = found.get(`${version} ${hash.toString('latin1')}`)
    // Equal look-ups do not share their bytes: callers own them.
    return one?.entry
      ? { ...one, entry: { ...one.entry, value: Uint8Array.from(one.entry.value) } }
      : { entry: undefined, oldestVersion: oldest.get(version)! }
  })
}
