import { hash } from 'node:crypto'
import { type StateEntry, versionPruned } from '@ledger-state/core'
import type { QueryResultRow } from 'pg'
import { toByteaArray } from '../sql/bytea-array.js'
import { isNotSupported } from '../sql/server-errors.js'
import { createLargeValues } from './large-values.js'
import { LOOK_UP, LOOK_UP_ON_SHARD, LOOK_UP_ONE, type LookUpRow } from './questions.js'
import type { Answer, Servers } from './servers.js'
import type { ShardMap } from './shard-map.js'
import { createTickBatch } from './tick-batch.js'

/** Look-ups of one statement. */
const MOST = 500

export interface LookUp {
  readonly key: Uint8Array
  readonly version: bigint
}

interface LookedUp {
  /** The newest version that wrote the key. */
  readonly written: bigint | undefined
  /** Undefined also where it is large. */
  readonly value: Buffer | undefined
  /** That of the server when it answered. */
  readonly oldestVersion: bigint
}

type WindowListener = (latestVersion: bigint, oldestVersion: bigint, askedAt: number) => void

/** Keys are found by their SHA-256, 32 bytes: index entries of PostgreSQL end near 2,700 bytes, keys at 64 KiB. */
export function hashKey(key: Uint8Array): Buffer {
  return hash('sha256', key, 'buffer')
}

/** Looks keys up; those of one tick go in one round. @throws `version_pruned` where a version was pruned meanwhile */
export function createLookUps(
  servers: Servers,
  onWindow: WindowListener,
): (lookUp: LookUp) => Promise<StateEntry | undefined> {
  const lookUp = createTickBatch(MOST, async (lookUps: readonly LookUp[]) => {
    const shards = await servers.shards()
    const askedAt = performance.now()
    const answer = await (shards ? askByShard(servers, shards, lookUps) : askTogether(servers, lookUps))
    const { rows, latestVersion, oldestVersion } = answer
    onWindow(latestVersion, oldestVersion, askedAt)
    const found = lookUps.map((): LookedUp => ({ written: undefined, value: undefined, oldestVersion }))
    for (const { place, version, value, is_deletion: isDeletion } of rows) {
      if (isDeletion) continue
      found[Number(place) - 1] = { written: BigInt(version), value: value ?? undefined, oldestVersion }
    }
    return found
  })
  const readLarge = createLargeValues(servers)
  return async (asked) => {
    const { key, version } = asked
    const { written, value: small, oldestVersion } = await lookUp(asked)
    if (version < oldestVersion) throw versionPruned(version, oldestVersion)
    if (written === undefined) return undefined
    if (small) return { version: written, value: small }
    const { value, oldestVersion: oldest } = await readLarge({ hash: hashKey(key), written, version })
    // A prune drops a write only where the versions that see it are pruned, too.
    if (version < oldest || value === undefined) throw versionPruned(version, oldest)
    return { version: written, value }
  }
}

type Row = LookUpRow & QueryResultRow

async function askTogether(servers: Servers, lookUps: readonly LookUp[]): Promise<Answer<Row>> {
  return await servers.ask<Row>({
    name: 'look-up',
    text: LOOK_UP,
    values: [toByteaArray(lookUps.map(({ key }) => hashKey(key))), lookUps.map(({ version }) => String(version))],
    version: newestOf(lookUps),
  })
}

async function askByShard(servers: Servers, shards: ShardMap, lookUps: readonly LookUp[]): Promise<Answer<Row>> {
  try {
    return await askGroups(servers, shards, lookUps)
  } catch (error) {
    if (!isNotSupported(error)) throw error
    // A shard was split since the map was read, so that a statement would go to two.
    servers.forgetShards()
    let alone = 0
    return await askGroups(servers, () => alone++, lookUps)
  }
}

/** One statement for each shard: what Citus sends to several shards at once it sends to each of them as a whole. */
async function askGroups(servers: Servers, shards: ShardMap, lookUps: readonly LookUp[]): Promise<Answer<Row>> {
  const placed = lookUps.map(({ key, version }, at) => ({
    hash: hashKey(key),
    version: String(version),
    place: String(at + 1),
  }))
  const statements = [...Map.groupBy(placed, ({ hash }) => shards(hash)).values()].map((group) => {
    const [one] = group
    if (one && group.length === 1) {
      return { name: 'look-up of one', text: LOOK_UP_ONE, values: [one.hash, one.version, one.place] }
    }
    const columns = [
      group.map(({ hash }) => hash),
      group.map(({ version }) => version),
      group.map(({ place }) => place),
    ]
    return { name: 'look-up on a shard', text: LOOK_UP_ON_SHARD, values: columns }
  })
  return await servers.askShards<Row>(statements, newestOf(lookUps))
}

function newestOf(lookUps: readonly LookUp[]): bigint {
  return lookUps.reduce((most, { version }) => (version > most ? version : most), 0n)
}
