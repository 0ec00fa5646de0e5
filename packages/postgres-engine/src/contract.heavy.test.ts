import { afterAll, beforeAll, describe } from 'vitest'
import { testContractOn } from '../testing/contract-on.ts'
import { type PostgresServer, startPostgres } from '../testing/postgres-server.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})

afterAll(() => server.close())

describe('the engine on PostgreSQL', () =>
  testContractOn(() => server.url(), 180_000, { patienceMs: 60_000, writePatienceMs: 120_000 }))
