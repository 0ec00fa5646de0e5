import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../testing/postgres-server.ts'
import { startTcpProxy, type TcpProxy } from '../../testing/tcp-proxy.ts'
import { ServerLink } from './link.js'
import { parseServerUrl } from './server-address.js'

const ONE = { text: 'SELECT 1 AS one' }
const LONG_MS = 60_000
const LATE = { code: 'unavailable', message: expect.stringMatching(/it took too long/) }

let server: PostgresServer
let proxy: TcpProxy
let link: ServerLink

beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})

afterAll(() => server.close())

beforeEach(async () => {
  proxy = await startTcpProxy(server.port)
  const url = server.url().replace(String(server.port), String(proxy.port))
  link = new ServerLink({ server: parseServerUrl(url), isPipelined: true })
})

afterEach(async () => {
  link.close()
  await proxy.close()
})

it('a caller whose time is over while it waits for a connection leaves the connection to the others', async () => {
  proxy.hold()
  const patient = link.query(ONE, LONG_MS)
  await expect(link.query(ONE, 20)).rejects.toMatchObject(LATE)
  proxy.flow()
  expect((await patient).rows).toEqual([{ one: 1 }])
  expect(link.isConnected).toBe(true)
})

it('a caller with little time left leaves a connection to the others that was silent for a moment', async () => {
  await link.query(ONE, LONG_MS)
  proxy.hold()
  const patient = link.query(ONE, LONG_MS)
  await expect(link.query(ONE, 1)).rejects.toMatchObject(LATE)
  proxy.flow()
  expect((await patient).rows).toEqual([{ one: 1 }])
  expect(link.isConnected).toBe(true)
})

it('a connection that is silent for long breaks for all who wait for it', async () => {
  await link.query(ONE, LONG_MS)
  proxy.hold()
  const patient = link.query(ONE, LONG_MS)
  const broken = expect(patient).rejects.toThrow()
  await expect(link.query(ONE, 600)).rejects.toMatchObject(LATE)
  await broken
  expect(link.isConnected).toBe(false)
})
