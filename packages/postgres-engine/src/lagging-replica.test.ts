import { eventually } from '@ledger-state/testing/eventually'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { clearStore } from '../testing/clear-store.ts'
import { type PostgresServer, startPostgres } from '../testing/postgres-server.ts'
import { CHAIN, keyOf, versionsFrom } from '../testing/versions.ts'
import {
  openPostgresEngine,
  openPostgresEngineReader,
  type PostgresEngine,
  type PostgresEngineReader,
  type PostgresReaderOptions,
} from './open-postgres-engine.js'

// A replica whose replication has stopped. Here it is a database of its own that got the first versions only;
// replicas.slow.test.ts has real ones.

let server: PostgresServer
let replicaUrl: string
let primary: PostgresEngine
let reader: PostgresEngineReader

beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
  replicaUrl = await server.createDatabase('replica')
})

afterAll(() => server.close())

beforeEach(async () => {
  for (const url of [server.url(), replicaUrl]) await clearStore(url)
  primary = await openPostgresEngine({ url: server.url(), patienceMs: 60_000 })
  const replica = await openPostgresEngine({ url: replicaUrl, patienceMs: 60_000 })
  for (const engine of [primary, replica]) await engine.commit(versionsFrom(0n, 3), CHAIN)
  await replica.close()
})

afterEach(async () => {
  await reader.close()
  await primary.close()
})

async function openReader(options: Partial<PostgresReaderOptions> = {}): Promise<PostgresEngineReader> {
  const urls = { url: server.url(), replicas: [replicaUrl] }
  return await openPostgresEngineReader({ ...urls, headMaxAgeMs: 0, patienceMs: 60_000, ...options })
}

it('a replica that lags does not say where a block ends', async () => {
  await primary.commit(versionsFrom(3n, 1), CHAIN)
  reader = await openReader()
  const snapshot = await reader.snapshot()
  const blocks = await Promise.all([1n, 2n].map((version) => snapshot.blockAt(version)))
  expect(blocks.map(({ firstVersion, lastVersion }) => [firstVersion, lastVersion])).toEqual([
    [1n, 1n],
    [2n, 2n],
  ])
})

it('a replica that lags does not keep a reader at its newest version whose reads follow each other closely', async () => {
  reader = await openReader({ headMaxAgeMs: 400 })
  const before = await reader.snapshot()
  expect(before.ledger?.latestVersion).toBe(2n)
  await primary.commit(versionsFrom(3n, 1), CHAIN)
  await eventually(
    async () => {
      // The replica answers with the window that the reader knows.
      await before.at().load([keyOf(0)])
      return (await reader.snapshot()).ledger?.latestVersion === 3n
    },
    () => 'the reader to see the commit',
  )
})
