import { createRandom, testSeed } from '@ledger-state/testing/random'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../testing/postgres-server.ts'
import { toByteaArray } from './bytea-array.js'

const random = createRandom(testSeed())
const randomBytes = (length: number) => Buffer.from(random.bytes(length))

let server: PostgresServer
let client: pg.Client

beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
  client = new pg.Client({ connectionString: server.url() })
  await client.connect()
})

afterAll(async () => {
  await client?.end()
  await server?.close()
})

it.each([
  ['no item', []],
  ['an empty item', [Buffer.alloc(0)]],
  ['items of all lengths', [Buffer.from('a'), Buffer.alloc(0), randomBytes(32), randomBytes(65_536)]],
  ['many items', Array.from({ length: 5_000 }, () => randomBytes(32))],
])('the server reads an array of bytea as it was written: %s', async (_, items) => {
  const text = 'SELECT item FROM unnest($1::bytea[]) WITH ORDINALITY AS items (item, place) ORDER BY place'
  const { rows } = await client.query<{ item: Buffer }>(text, [toByteaArray(items)])
  expect(rows.length).toBe(items.length)
  expect(rows.every(({ item }, at) => item.equals(items[at]!))).toBe(true)
})
