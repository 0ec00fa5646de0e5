import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../testing/postgres-server.ts'
import { openPostgresEngine, type PostgresEngine } from '../open-postgres-engine.js'

let server: PostgresServer
let engine: PostgresEngine

beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
  engine = await openPostgresEngine({ url: server.url() })
})

afterAll(async () => {
  await engine?.close()
  await server?.close()
})

it('a search for writes on PostgreSQL is refused where a prune since the snapshot may have taken a deletion', async () => {
  const [kept, deleted, never] = [Buffer.from('kept'), Buffer.from('deleted'), Buffer.from('never')]
  const value = Buffer.from('value')
  for (const [at, [key, written]] of [
    [kept, value],
    [deleted, value],
    [deleted, null],
    ...Array.from({ length: 3 }, () => [kept, value]),
  ].entries()) {
    const version = BigInt(at)
    const block = { height: version, epoch: 0n, timestampUsec: version }
    await engine.commit([{ version, block, writes: [[key!, written!]] }], { chainId: 1 })
  }
  const snapshot = await engine.snapshot()
  expect(await snapshot.nearestWrites([kept, deleted, never], { until: 5n })).toEqual([5n, 2n, undefined])
  await engine.prune(2n)
  expect(await snapshot.nearestWrites([kept], { until: 4n })).toEqual([4n])
  expect(await snapshot.nearestWrites([kept, deleted], { above: 4n, last: 5n })).toEqual([5n, undefined])
  for (const key of [deleted, never]) {
    await expect(snapshot.nearestWrites([kept, key], { until: 5n })).rejects.toMatchObject({ code: 'version_pruned' })
  }
  const pruned = await engine.snapshot()
  expect(await pruned.nearestWrites([kept, deleted, never], { until: 5n })).toEqual([5n, undefined, undefined])
})
