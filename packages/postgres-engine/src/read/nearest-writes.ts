import type { LedgerSummary, WriteSearch } from '@ledger-state/engine'
import {
  expectArray,
  expectBytes,
  expectSearchKept,
  toWriteRange,
  type WriteRange,
} from '@ledger-state/engine/authoring'
import type { QueryResultRow } from 'pg'
import { hashKey } from '../schema/key-hash.js'
import { toByteaArray } from '../sql/bytea-array.js'
import { isNotSupported } from '../sql/server-errors.js'
import { type NearestWriteRow, nearestWritesOnShard, nearestWritesQuestion } from './questions.js'
import { expectNotCut, type ServerAnswer, type Servers } from './servers.js'
import type { ShardMap } from './shard-map.js'

/** Most keys of one statement. */
const MOST = 500

type Row = NearestWriteRow & QueryResultRow

/** Finds the nearest writes of keys: see `AsyncStateSnapshot.nearestWrites`. */
export async function nearestWrites(
  servers: Servers,
  ledger: LedgerSummary,
  keys: readonly Uint8Array[],
  search: WriteSearch,
): Promise<readonly (bigint | undefined)[]> {
  expectArray('the keys', keys)
  for (const key of keys) expectBytes('the key', key)
  const range = toWriteRange(search, ledger)
  if (range.last < range.first) return keys.map(() => undefined)
  const parts: (readonly Uint8Array[])[] = []
  for (let at = 0; at < keys.length; at += MOST) parts.push(keys.slice(at, at + MOST))
  const found = await Promise.all(parts.map((part) => nearestOfPart(servers, ledger, part, range)))
  return found.flat()
}

async function nearestOfPart(
  servers: Servers,
  ledger: LedgerSummary,
  keys: readonly Uint8Array[],
  range: WriteRange,
): Promise<(bigint | undefined)[]> {
  const shards = await servers.shards()
  const answer = await (shards
    ? askByShard(servers, shards, ledger, keys, range)
    : askTogether(servers, ledger, keys, range))
  expectNotCut(range.last, ledger, answer)
  const found: (bigint | undefined)[] = keys.map(() => undefined)
  for (const { place, version } of answer.rows) found[Number(place) - 1] = BigInt(version)
  expectSearchKept(range, found, ledger, answer)
  return found
}

function bounds({ first, last }: WriteRange, { oldestVersion }: LedgerSummary): string[] {
  return [String(first), String(last), String(oldestVersion)]
}

async function askTogether(
  servers: Servers,
  ledger: LedgerSummary,
  keys: readonly Uint8Array[],
  range: WriteRange,
): Promise<ServerAnswer<Row>> {
  return await servers.ask<Row>({
    name: range.isUpward ? 'first writes above' : 'newest writes until',
    text: nearestWritesQuestion(range.isUpward),
    values: [toByteaArray(keys.map(hashKey)), ...bounds(range, ledger)],
    version: range.last,
    ledger,
  })
}

async function askByShard(
  servers: Servers,
  shards: ShardMap,
  ledger: LedgerSummary,
  keys: readonly Uint8Array[],
  range: WriteRange,
): Promise<ServerAnswer<Row>> {
  try {
    return await askGroups(servers, shards, ledger, keys, range)
  } catch (error) {
    if (!isNotSupported(error)) throw error
    // A shard was split since the map was read, so a statement would go to two.
    servers.forgetShards()
    let alone = 0
    return await askGroups(servers, () => alone++, ledger, keys, range)
  }
}

/** Asks in one statement for each shard, as look-ups do. */
async function askGroups(
  servers: Servers,
  shards: ShardMap,
  ledger: LedgerSummary,
  keys: readonly Uint8Array[],
  range: WriteRange,
): Promise<ServerAnswer<Row>> {
  const placed = keys.map((key, at) => ({ hash: hashKey(key), place: String(at + 1) }))
  const statements = [...Map.groupBy(placed, ({ hash }) => shards(hash)).values()].map((group) => ({
    name: range.isUpward ? 'first writes above, on a shard' : 'newest writes until, on a shard',
    text: nearestWritesOnShard(range.isUpward),
    values: [group.map(({ hash }) => hash), ...bounds(range, ledger), group.map(({ place }) => place)],
  }))
  return await servers.askShards<Row>(statements, { version: range.last, ledger })
}
