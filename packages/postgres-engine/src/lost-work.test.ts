import { Buffer } from 'node:buffer'
import { eventually } from '@ledger-state/testing/eventually'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { removeStore } from '../testing/contract-on.ts'
import { type PostgresServer, startPostgres } from '../testing/postgres-server.ts'
import { startTcpProxy, type TcpProxy } from '../testing/tcp-proxy.ts'
import { CHAIN, keyOf, versionsFrom } from '../testing/versions.ts'
import { openPostgresEngine, type PostgresEngine } from './open-postgres-engine.js'

// A standby that takes over without the last commits: its name stays, and its store is older.

let server: PostgresServer
let proxy: TcpProxy
let engine: PostgresEngine

beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})

afterAll(() => server.close())

beforeEach(async () => {
  await removeStore(server.url())
  proxy = await startTcpProxy(server.port)
  engine = await open()
})

afterEach(async () => {
  await engine.close()
  await proxy.close()
})

async function open(): Promise<PostgresEngine> {
  const url = server.url().replace(String(server.port), String(proxy.port))
  return await openPostgresEngine({ url, patienceMs: 60_000 })
}

/** Waits until no session of an engine is left, so that nothing of it is still under way. */
async function sessionsEnd(): Promise<void> {
  await eventually(
    async () => (await server.sql("SELECT FROM pg_stat_activity WHERE application_name = 'ledger-state'")).length === 0,
    () => 'the sessions of the engine to end',
  )
}

/** Makes the store what it was at a version, while no engine is connected. */
async function failOverTo(version: bigint): Promise<void> {
  proxy.refuse()
  await sessionsEnd()
  await server.sql(`
    DELETE FROM ledger_state.entries WHERE version > ${version};
    DELETE FROM ledger_state.keys WHERE key_hash NOT IN (SELECT key_hash FROM ledger_state.entries);
    DELETE FROM ledger_state.blocks WHERE first_version > ${version};
    UPDATE ledger_state.head SET latest_version = ${version}, written_version = ${version}, latest_block = ${version}`)
  proxy.accept()
}

const LOST = { code: 'unavailable', message: expect.stringMatching(/is older than when this writer wrote to it/) }

async function expectWhole(): Promise<void> {
  const { ledger } = await engine.snapshot()
  for (const version of [4n, 5n, 6n, 7n]) {
    const [entry] = await (await engine.snapshot()).at(version).load([keyOf(0)])
    expect(entry?.version).toBe(version)
  }
  expect(ledger?.latestVersion).toBe(7n)
  expect(await engine.check()).toMatchObject({ versions: 8n, keys: 5, problems: [] })
}

it('a commit under way is refused by a server that lost the commits before it, and an engine opened again makes up for them', async () => {
  await engine.commit(versionsFrom(0n, 4), CHAIN)
  // Keys that only the lost commits wrote.
  await engine.commit(versionsFrom(4n, 2, 5), CHAIN)
  const isOver = proxy.cutOn('COMMIT', 'before').then(() => failOverTo(3n))
  await expect(engine.commit(versionsFrom(6n, 2), CHAIN)).rejects.toMatchObject(LOST)
  await isOver
  await expect(engine.commit(versionsFrom(4n, 4, 5), CHAIN)).rejects.toMatchObject(LOST)
  await engine.close()
  engine = await open()
  expect(engine.ledger?.latestVersion).toBe(3n)
  await engine.commit(versionsFrom(4n, 4, 5), CHAIN)
  await expectWhole()
})

it('the next commit is refused by a server that lost earlier ones', async () => {
  await engine.commit(versionsFrom(0n, 4), CHAIN)
  await engine.commit(versionsFrom(4n, 2, 5), CHAIN)
  await failOverTo(3n)
  await expect(engine.commit(versionsFrom(4n, 4, 5), CHAIN)).rejects.toMatchObject(LOST)
  await engine.close()
  engine = await open()
  await engine.commit(versionsFrom(4n, 4, 5), CHAIN)
  await expectWhole()
})

it('the next part of an import is refused by a server that lost earlier ones, and an import that is resumed makes up for them', async () => {
  const partOf = (number: number) => [{ key: keyOf(number), version: 3n, value: Buffer.from('value') }]
  const part = await engine.beginImport(4n)
  await part.add(partOf(0), Buffer.from('0'))
  await part.add(partOf(1), Buffer.from('1'))
  proxy.refuse()
  await sessionsEnd()
  await server.sql(`
    DELETE FROM ledger_state.entries WHERE key_hash = sha256('key 1');
    DELETE FROM ledger_state.keys WHERE key = 'key 1';
    UPDATE ledger_state.head SET import_count = 1, import_mark = '0'`)
  proxy.accept()
  await expect(part.add(partOf(2), Buffer.from('2'))).rejects.toMatchObject(LOST)
  await engine.close()
  engine = await open()
  const resumed = await engine.beginImport(4n, { resume: true })
  expect(resumed.mark).toEqual(Uint8Array.from(Buffer.from('0')))
  for (const number of [1, 2]) await resumed.add(partOf(number))
  await resumed.finish({ ...CHAIN, block: { height: 4n, epoch: 0n, timestampUsec: 4n } })
  expect(await engine.check()).toMatchObject({ keys: 3, problems: [] })
})
