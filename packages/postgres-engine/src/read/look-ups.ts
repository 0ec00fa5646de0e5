import { branchOf, type LedgerSummary, type StateEntry, versionPruned } from '@ledger-state/engine'
import { storedToValue } from '@ledger-state/engine/authoring'
import type { QueryResultRow } from 'pg'
import { hashKey } from '../schema/key-hash.js'
import { toByteaArray } from '../sql/bytea-array.js'
import { isNotSupported } from '../sql/server-errors.js'
import { createLargeValues } from './large-values.js'
import { LOOK_UP, LOOK_UP_ON_SHARD, LOOK_UP_ONE, type LookUpRow } from './questions.js'
import { expectNotCut, type ServerAnswer, type Servers } from './servers.js'
import type { ShardMap } from './shard-map.js'
import { answerGroups, createTickBatch } from './tick-batch.js'

/** Most look-ups of one statement. */
const MOST = 500

export interface LookUp {
  readonly key: Uint8Array
  readonly version: bigint
  /** Ledger of the view. */
  readonly ledger: LedgerSummary
}

interface LookedUp {
  /** Newest version that wrote the key. */
  readonly written: bigint | undefined
  /** Value in its stored form; also undefined if it is large. */
  readonly value: Buffer | undefined
  readonly answer: ServerAnswer<unknown>
}

type WindowListener = (answer: ServerAnswer<unknown>, askedAt: number) => void

/**
 * Makes the function that looks keys up. All look-ups of one tick take one round.
 * @throws `version_pruned`, `version_truncated` if a version was pruned or cut off meanwhile
 */
export function createLookUps(
  servers: Servers,
  onWindow: WindowListener,
): (lookUp: LookUp) => Promise<StateEntry | undefined> {
  const ask = async (lookUps: readonly LookUp[]): Promise<LookedUp[]> => {
    const shards = await servers.shards()
    const askedAt = performance.now()
    const answer = await (shards ? askByShard(servers, shards, lookUps) : askTogether(servers, lookUps))
    onWindow(answer, askedAt)
    const found = lookUps.map((): LookedUp => ({ written: undefined, value: undefined, answer }))
    for (const { place, version, value, is_deletion: isDeletion } of answer.rows) {
      if (isDeletion) continue
      found[Number(place) - 1] = { written: BigInt(version), value: value ?? undefined, answer }
    }
    return found
  }
  const lookUp = createTickBatch(MOST, (lookUps: readonly LookUp[]) =>
    answerGroups(lookUps, ({ ledger }) => branchOf(ledger), ask),
  )
  const readLarge = createLargeValues(servers)
  return async (asked) => {
    const { key, version, ledger } = asked
    const { written, value: small, answer } = await lookUp(asked)
    expectNotCut(version, ledger, answer)
    const { oldestVersion } = answer
    if (version < oldestVersion) throw versionPruned(version, oldestVersion)
    if (written === undefined) return undefined
    if (small) return { version: written, ...storedToValue(small) }
    const { value, answer: later } = await readLarge({ hash: hashKey(key), written, version, ledger })
    expectNotCut(version, ledger, later)
    const { oldestVersion: oldest } = later
    // A prune drops a write only if it also prunes the versions that see it.
    if (version < oldest || value === undefined) throw versionPruned(version, oldest)
    return { version: written, ...storedToValue(value) }
  }
}

type Row = LookUpRow & QueryResultRow

async function askTogether(servers: Servers, lookUps: readonly LookUp[]): Promise<ServerAnswer<Row>> {
  return await servers.ask<Row>({
    name: 'look-up',
    text: LOOK_UP,
    values: [toByteaArray(lookUps.map(({ key }) => hashKey(key))), lookUps.map(({ version }) => String(version))],
    version: newestOf(lookUps),
    ledger: lookUps[0]!.ledger,
  })
}

async function askByShard(servers: Servers, shards: ShardMap, lookUps: readonly LookUp[]): Promise<ServerAnswer<Row>> {
  try {
    return await askGroups(servers, shards, lookUps)
  } catch (error) {
    if (!isNotSupported(error)) throw error
    // A shard was split since the map was read, so a statement would go to two.
    servers.forgetShards()
    let alone = 0
    return await askGroups(servers, () => alone++, lookUps)
  }
}

/** Asks in one statement for each shard: Citus would send a statement for several shards to each of them as a whole. */
async function askGroups(servers: Servers, shards: ShardMap, lookUps: readonly LookUp[]): Promise<ServerAnswer<Row>> {
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
  return await servers.askShards<Row>(statements, { version: newestOf(lookUps), ledger: lookUps[0]!.ledger })
}

function newestOf(lookUps: readonly LookUp[]): bigint {
  return lookUps.reduce((most, { version }) => (version > most ? version : most), 0n)
}
