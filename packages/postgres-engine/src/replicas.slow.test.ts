import { eventually } from '@ledger-state/testing/eventually'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../testing/postgres-server.ts'
import { CHAIN, keyOf, versionsFrom } from '../testing/versions.ts'
import {
  openPostgresEngine,
  openPostgresEngineReader,
  type PostgresEngine,
  type PostgresEngineReader,
} from './open-postgres-engine.js'

let primary: PostgresServer
let replica: PostgresServer
let writer: PostgresEngine
let reader: PostgresEngineReader
let next = 0n

beforeAll(async () => {
  primary = await startPostgres({ settings: { fsync: 'off' } })
  replica = await primary.startReplica()
  writer = await openPostgresEngine({ url: primary.url() })
  reader = await openPostgresEngineReader({ url: primary.url(), replicas: [replica.url()], headMaxAgeMs: 0 })
})

afterAll(async () => {
  await reader?.close()
  await writer?.close()
  await replica?.close()
  await primary?.close()
})

async function commit(): Promise<bigint> {
  await writer.commit(versionsFrom(next, 1), CHAIN)
  return next++
}

async function replicaHas(version: bigint): Promise<void> {
  await eventually(
    async () => (await replica.sql('SELECT latest_version FROM ledger_state.head'))[0]?.latest_version === `${version}`,
    () => `the replica to have version ${version}`,
  )
}

async function writtenAt(version: bigint): Promise<bigint | undefined> {
  const [entry] = await (await reader.snapshot()).at(version).load([keyOf(0)])
  return entry?.version
}

it('a replica answers while the server that takes writes hangs', async () => {
  const version = await commit()
  await replicaHas(version)
  const view = (await reader.snapshot()).at(version)
  await view.load([keyOf(0)])
  primary.halt()
  try {
    expect((await view.load([keyOf(0)]))[0]?.version).toBe(version)
    expect(await writtenAt(version)).toBe(version)
  } finally {
    primary.proceed()
  }
})

it('a replica is not accepted where it lags, neither on values nor on their absence', async () => {
  const before = await commit()
  await replicaHas(before)
  await replica.sql('SELECT pg_wal_replay_pause()')
  try {
    const version = await commit()
    // Until its connection to the server is made again, a replica may report an older newest version.
    await eventually(
      async () => (await reader.snapshot()).ledger?.latestVersion === version,
      () => 'the commit to be seen',
    )
    expect(await writtenAt(version)).toBe(version)
    expect(await writtenAt(before)).toBe(before)
    const { revisions } = await (await reader.snapshot()).history(keyOf(0), { limit: 1 })
    expect(revisions[0]?.version).toBe(version)
    await writer.prune(1n)
    // For some milliseconds a reader may continue with the snapshot that it has.
    await eventually(
      async () => (await reader.snapshot()).ledger?.oldestVersion === version,
      () => 'the prune to be seen',
    )
    const snapshot = await reader.snapshot()
    expect(() => snapshot.at(before)).toThrow('pruned')
  } finally {
    await replica.sql('SELECT pg_wal_replay_resume()')
  }
})

it('a replica is not accepted while it has versions that were cut off', async () => {
  await commit()
  const version = await commit()
  await replicaHas(version)
  await replica.sql('SELECT pg_wal_replay_pause()')
  try {
    await writer.truncateTo(version - 1n)
    await writer.commit(versionsFrom(version, 1, 1), CHAIN)
    await eventually(
      async () => {
        const { ledger } = await reader.snapshot()
        return ledger?.truncations?.at(-1)?.version === version - 1n && ledger.latestVersion === version
      },
      () => 'the truncation to be seen',
    )
    const view = (await reader.snapshot()).at(version)
    // The version that was cut off wrote both keys; the one that has its number now wrote the first key only.
    const entries = await view.load([keyOf(0), keyOf(1)])
    expect(entries.map((entry) => entry?.version)).toEqual([version, version - 1n])
  } finally {
    await replica.sql('SELECT pg_wal_replay_resume()')
  }
})

it('a replica may be gone', async () => {
  const version = await commit()
  await replica.kill()
  expect(await writtenAt(version)).toBe(version)
  await replica.start()
  await replicaHas(version)
  expect(await writtenAt(version)).toBe(version)
})

it('a replica takes no writer', async () => {
  await expect(openPostgresEngine({ url: replica.url() })).rejects.toMatchObject({ code: 'store_read_only' })
})
