import { isLedgerStateError } from '@ledger-state/core'
import { eventually } from '@ledger-state/testing/eventually'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { removeStore } from '../testing/contract-on.ts'
import { type PostgresServer, startPostgres } from '../testing/postgres-server.ts'
import { startTcpProxy, type TcpProxy } from '../testing/tcp-proxy.ts'
import { CHAIN, keyOf, versionsFrom } from '../testing/versions.ts'
import {
  openPostgresEngine,
  openPostgresEngineReader,
  type PostgresEngine,
  type PostgresEngineReader,
  type PostgresReaderOptions,
  type PostgresWriterOptions,
} from './open-postgres-engine.js'

let server: PostgresServer
let proxy: TcpProxy
/** URL of the server by way of the proxy. */
let url: string
let opened: (PostgresEngine | PostgresEngineReader)[]

beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})

afterAll(() => server.close())

beforeEach(async () => {
  await removeStore(server.url())
  proxy = await startTcpProxy(server.port)
  url = server.url().replace(String(server.port), String(proxy.port))
  opened = []
})

afterEach(async () => {
  for (const engine of opened) await engine.close()
  await proxy.close()
})

/** Patience with a sound server, which takes longer than 2 s on a loaded machine. */
const PATIENT = { patienceMs: 60_000 }

async function open(options: Partial<PostgresWriterOptions> = {}): Promise<PostgresEngine> {
  const engine = await openPostgresEngine({ url, ...PATIENT, ...options })
  opened.push(engine)
  return engine
}

async function openReader(options: Partial<PostgresReaderOptions> = {}): Promise<PostgresEngineReader> {
  // The reader asks for the head each time, so it sees the commits of another engine at once.
  const reader = await openPostgresEngineReader({ url, headMaxAgeMs: 0, ...PATIENT, ...options })
  opened.push(reader)
  return reader
}

async function connectTo(address: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  return client
}

async function failure(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    if (isLedgerStateError(error)) return error.code
    throw error
  }
  return 'no failure'
}

/** The newest version, the value of the first key there, and how often it was written. */
async function picture(engine: PostgresEngineReader) {
  const snapshot = await engine.snapshot()
  const [entry] = await snapshot.at().load([keyOf(0)])
  const { revisions } = await snapshot.history(keyOf(0))
  return [snapshot.ledger?.latestVersion, entry && Buffer.from(entry.value).toString(), revisions.length]
}

describe('a commit whose connection is cut', () => {
  it.each([
    ['when it sends its rows', 'PGCOPY', 'before'],
    ['when the server has its rows', 'PGCOPY', 'after'],
    ['before COMMIT is sent to the server', 'COMMIT', 'before'],
    ['when the server has committed, and its answer is lost', 'COMMIT', 'after'],
  ] as const)('is done exactly once: %s', async (_, text, cut) => {
    const engine = await open()
    await engine.commit(versionsFrom(0n, 3), CHAIN)
    const isCut = proxy.cutOn(text, cut)
    await engine.commit(versionsFrom(3n, 4), CHAIN)
    await isCut
    expect(await picture(engine)).toEqual([6n, '6', 7])
    await engine.commit(versionsFrom(7n, 1), CHAIN)
    expect(await picture(engine)).toEqual([7n, '7', 8])
    expect((await engine.check()).problems).toEqual([])
  })

  it('is done exactly once where the server fails after it committed, and the connection is sound', async () => {
    const engine = await open()
    await engine.commit(versionsFrom(0n, 3), CHAIN)
    await server.sql(`CREATE OR REPLACE FUNCTION fail() RETURNS int LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'canceling statement due to user request' USING ERRCODE = '57014'; END $$`)
    proxy.replaceOnce('COMMIT; \nSELECT head.*', 'COMMIT; \nSELECT fail()')
    await engine.commit(versionsFrom(3n, 4), CHAIN)
    expect(await picture(engine)).toEqual([6n, '6', 7])
    await engine.commit(versionsFrom(7n, 1), CHAIN)
    expect(await picture(engine)).toEqual([7n, '7', 8])
    expect((await engine.check()).problems).toEqual([])
  })

  it('is found to be there by the next commit, where the server fails for good after it committed', async () => {
    const engine = await open()
    await engine.commit(versionsFrom(0n, 3), CHAIN)
    await server.sql(`CREATE OR REPLACE FUNCTION fail() RETURNS int LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END $$`)
    proxy.replaceOnce('COMMIT; \nSELECT head.*', 'COMMIT; \nSELECT fail()')
    expect(await failure(engine.commit(versionsFrom(3n, 4), CHAIN))).toBe('store_full')
    await engine.commit(versionsFrom(7n, 1), CHAIN)
    expect(await picture(engine)).toEqual([7n, '7', 8])
    expect((await engine.check()).problems).toEqual([])
  })

  it('is found to be there by the next commit, where nobody could tell', async () => {
    const engine = await open({ writePatienceMs: 300 })
    await engine.commit(versionsFrom(0n, 3), CHAIN)
    const isCut = proxy.cutOn('COMMIT', 'after').then(() => proxy.refuse())
    expect(await failure(engine.commit(versionsFrom(3n, 4), CHAIN))).toBe('unavailable')
    await isCut
    proxy.accept()
    await eventually(
      async () => (await failure(engine.commit(versionsFrom(7n, 1), CHAIN))) === 'no failure',
      () => 'the store to take commits again',
    )
    expect(await picture(engine)).toEqual([7n, '7', 8])
  })
})

describe('a mark that is replaced', () => {
  it.each([
    ['before COMMIT is sent to the server', 'COMMIT', 'before'],
    ['when the server has committed, and its answer is lost', 'COMMIT', 'after'],
  ] as const)('is there although the connection is cut %s', async (_, text, cut) => {
    const engine = await open()
    await engine.commit(versionsFrom(0n, 3), { ...CHAIN, mark: Buffer.from('before') })
    const isCut = proxy.cutOn(text, cut)
    await engine.putMark(Buffer.from('after'))
    await isCut
    expect((await engine.snapshot()).mark).toEqual(Uint8Array.from(Buffer.from('after')))
    await engine.commit(versionsFrom(3n, 1), CHAIN)
    expect((await engine.snapshot()).mark).toBeUndefined()
    expect((await engine.check()).problems).toEqual([])
  })

  it('is seen by a reader whose reads follow each other closely', async () => {
    const engine = await open()
    await engine.commit(versionsFrom(0n, 3), CHAIN)
    const reader = await openReader({ headMaxAgeMs: 400 })
    const before = await reader.snapshot()
    await engine.putMark(Buffer.from('after'))
    await eventually(
      async () => {
        // The answer would confirm the head that the reader knows if it did not say that the mark is another one.
        await before.at().load([keyOf(0)])
        return (await reader.snapshot()).mark !== undefined
      },
      () => 'the reader to see the mark',
    )
    expect((await reader.snapshot()).ledger).toBe(before.ledger)
  })
})

describe('a writer that connects again', () => {
  it.each([
    ['takes the lock', 'pg_try_advisory_lock'],
    ['compares its epoch', 'SET writer_epoch'],
    ['reads the head', 'SELECT head.*'],
  ])('stays the writer although the connection is cut again when it %s', async (_, text) => {
    const engine = await open()
    await engine.commit(versionsFrom(0n, 3), CHAIN)
    const isCut = proxy.cutOn('PGCOPY', 'before').then(() => proxy.cutOn(text, 'after'))
    await engine.commit(versionsFrom(3n, 4), CHAIN)
    await isCut
    expect(await picture(engine)).toEqual([6n, '6', 7])
    await engine.commit(versionsFrom(7n, 1), CHAIN)
    expect((await engine.check()).problems).toEqual([])
  })
})

describe('a part of an import whose connection is cut', () => {
  it('has its mark although it has no entries', async () => {
    const engine = await open()
    const importing = await engine.beginImport(5n)
    await importing.add([{ key: keyOf(0), version: 3n, value: Buffer.from('3') }], Buffer.from('first'))
    const isCut = proxy.cutOn('COMMIT', 'before')
    await importing.add([], Buffer.from('second'))
    await isCut
    expect((await engine.unfinishedImport())?.mark).toEqual(Uint8Array.from(Buffer.from('second')))
  })
})

describe('a batch that deletes keys', () => {
  it('does not read their values', async () => {
    const engine = await open()
    const [created, deleted] = versionsFrom(0n, 2)
    const value = Buffer.alloc(1_000_000)
    await engine.commit([{ ...created!, writes: [[keyOf(0), value]] }], CHAIN)
    const before = proxy.answeredBytes
    await engine.commit([{ ...deleted!, writes: [[keyOf(0), null]] }], CHAIN)
    expect(proxy.answeredBytes - before).toBeLessThan(100_000)
    expect((await engine.check()).writes).toBe(2)
  })
})

describe('a truncation whose connection is cut', () => {
  it.each([
    ['before COMMIT is sent to the server', 'COMMIT', 'before'],
    ['when the server has committed, and its answer is lost', 'COMMIT', 'after'],
  ] as const)('is done exactly once: %s', async (_, text, cut) => {
    const engine = await open()
    const reader = await openReader()
    await engine.commit(versionsFrom(0n, 8), CHAIN)
    const view = (await reader.snapshot()).at(6n)
    const isCut = proxy.cutOn(text, cut)
    await engine.truncateTo(4n)
    await isCut
    expect(await picture(engine)).toEqual([4n, '4', 5])
    expect(engine.ledger?.truncations).toEqual([{ number: 1, version: 4n }])
    expect(await picture(reader)).toEqual([4n, '4', 5])
    await engine.commit(versionsFrom(5n, 4), CHAIN)
    expect(await failure(view.load([keyOf(0)]))).toBe('version_truncated')
    expect(await picture(reader)).toEqual([8n, '8', 9])
    expect((await engine.check()).problems).toEqual([])
  })

  it('leaves no key unlisted that is written again, where nobody could tell', async () => {
    const engine = await open({ writePatienceMs: 300 })
    await engine.commit(versionsFrom(0n, 4), CHAIN)
    // Keys that are cut off.
    await engine.commit(versionsFrom(4n, 2, 5), CHAIN)
    const isCut = proxy.cutOn('COMMIT', 'after').then(() => proxy.refuse())
    expect(await failure(engine.truncateTo(3n))).toBe('unavailable')
    await isCut
    proxy.accept()
    await eventually(
      async () => (await failure(engine.commit(versionsFrom(4n, 2, 5), CHAIN))) === 'no failure',
      () => 'the store to take commits again',
    )
    expect(await engine.check()).toMatchObject({ keys: 5, problems: [] })
  })

  it('takes longer than the patience of other writes and than its role lets a statement take, if it has many writes to delete', async () => {
    // As a role or a database may have it.
    const options = encodeURIComponent('-c statement_timeout=800')
    const engine = await open({ url: `${url}?options=${options}`, writePatienceMs: 300 })
    await engine.commit(versionsFrom(0n, 8), CHAIN)
    const other = await connectTo(server.url())
    // The truncation waits for this lock as it would for a slow disk.
    await other.query('BEGIN; LOCK TABLE ledger_state.blocks IN EXCLUSIVE MODE')
    const truncating = engine.truncateTo(4n)
    const waiting = `SELECT FROM pg_stat_activity
      WHERE query LIKE 'DELETE FROM ledger_state.blocks%' AND wait_event_type = 'Lock' AND now() - xact_start > '900 ms'`
    await eventually(
      async () => (await server.sql(waiting)).length === 1,
      () => 'the truncation to wait for longer than the patience',
    )
    await other.end()
    await truncating
    expect(await picture(engine)).toEqual([4n, '4', 5])
  })
})

describe.runIf(isSlowRun)('a server that is killed', () => {
  it('keeps all commits, and serves again by itself', async () => {
    const engine = await open()
    const reader = await openReader()
    await engine.commit(versionsFrom(0n, 3), CHAIN)
    expect(await picture(reader)).toEqual([2n, '2', 3])
    await server.kill()
    expect(await failure(reader.snapshot())).toBe('unavailable')
    const committing = engine.commit(versionsFrom(3n, 4), CHAIN)
    await server.start()
    await committing
    await eventually(
      async () => (await picture(reader))[0] === 6n,
      () => 'the reader to answer again',
    )
    expect(await picture(reader)).toEqual([6n, '6', 7])
    expect((await engine.check()).problems).toEqual([])
  })

  it('has all of a batch or none, wherever it is killed', async () => {
    const engine = await open()
    await engine.commit(versionsFrom(0n, 1), CHAIN)
    const random = createRandom(testSeed())
    const large = versionsFrom(1n, 1).map((one) => ({
      ...one,
      writes: Array.from({ length: 3_000 }, (_, at) => [keyOf(at), random.bytes(1_000)] as const),
    }))
    void proxy.cutOn('PGCOPY', 'after')
    const committing = engine.commit(large, CHAIN)
    const copying = "SELECT FROM pg_stat_activity WHERE query LIKE 'COPY%' AND state = 'active'"
    await eventually(
      async () => (await server.sql(copying)).length === 1,
      () => 'the server to have begun the copy',
    )
    await server.kill()
    await server.start()
    await committing
    const snapshot = await engine.snapshot()
    expect(snapshot.ledger?.latestVersion).toBe(1n)
    expect((await snapshot.at().load([keyOf(2_999)]))[0]?.version).toBe(1n)
    expect((await engine.check()).writes).toBe(3_003)
  })
})

describe.runIf(isSlowRun)('a server that hangs', () => {
  it('is unavailable within the patience of a reader, and serves again by itself', async () => {
    const engine = await open()
    await engine.commit(versionsFrom(0n, 3), CHAIN)
    const reader = await openReader({ patienceMs: 2_000 })
    const view = (await reader.snapshot()).at()
    server.halt()
    try {
      expect(await failure(view.load([keyOf(0)]))).toBe('unavailable')
      expect(await failure(reader.snapshot())).toBe('unavailable')
    } finally {
      server.proceed()
    }
    await eventually(
      async () => (await view.load([keyOf(0)]))[0]?.version === 2n,
      () => 'the reader to answer again',
    )
  })
})

describe('a server that is slow to answer', () => {
  it('is waited for by a writer that opens the store, longer than one that refuses connections', async () => {
    proxy.hold()
    const opening = open({ patienceMs: 100 })
    // Longer than the patience of the engine.
    await new Promise((resolve) => setTimeout(resolve, 400))
    proxy.flow()
    await (await opening).commit(versionsFrom(0n, 1), CHAIN)
    proxy.refuse()
    expect(await failure(open({ patienceMs: 100 }))).toBe('unavailable')
    proxy.accept()
  })
})

describe('two writers', () => {
  it('are refused while one has the store open', async () => {
    await open()
    expect(await failure(open())).toBe('store_locked')
  })

  it('have one after the other, and the deposed one writes no more, even after it slept', async () => {
    const sleeper = await open()
    await sleeper.commit(versionsFrom(0n, 3), CHAIN)
    const successor = await open({ url: server.url(), takeOver: true })
    await successor.commit(versionsFrom(3n, 2), CHAIN)
    expect(await failure(sleeper.commit(versionsFrom(3n, 4), CHAIN))).toBe('store_locked')
    expect(await failure(sleeper.prune(1n))).toBe('store_locked')
    await successor.close()
    // The commit is also refused once nobody holds the store any more.
    expect(await failure(sleeper.commit(versionsFrom(5n, 1), CHAIN))).toBe('store_locked')
    expect(await picture(await openReader())).toEqual([4n, '4', 5])
  })

  it('do not mix where the one that sleeps has begun a transaction', async () => {
    const sleeper = await open()
    await sleeper.commit(versionsFrom(0n, 3), CHAIN)
    proxy.hold()
    const late = failure(sleeper.commit(versionsFrom(3n, 4), CHAIN))
    const successor = await open({ url: server.url(), takeOver: true })
    await successor.commit(versionsFrom(3n, 2), CHAIN)
    proxy.flow()
    expect(await late).toBe('store_locked')
    expect(await picture(successor)).toEqual([4n, '4', 5])
  })
})

describe('errors', () => {
  it.each([
    ['http://user@host/db', 'invalid_argument', /begin with postgres:/],
    ['postgres://user:se cret@[::::/db', 'invalid_argument', /cannot be parsed/],
  ])('is said of the URL %s', async (wrong, code, message) => {
    const error = await openPostgresEngineReader({ url: wrong }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
    expect(String((error as Error).message)).not.toContain('se cret')
  })

  it('is said in one line, without the password', async () => {
    await server.sql("CREATE ROLE reader LOGIN PASSWORD 'right'")
    const of = (user: string, database: string) => `postgres://${user}:s3cret@127.0.0.1:${server.port}/${database}`
    const cases = [
      [of('postgres', 'nowhere'), 'store_missing', /no such database: postgres@127\.0\.0\.1:\d+\/nowhere/],
      [of('nobody', 'postgres'), 'store_failed', /refuses nobody@.*role "nobody" does not exist/],
      [of('postgres', 'postgres'), 'store_missing', /no ledger store in postgres@/],
    ] as const
    for (const [wrong, code, message] of cases) {
      const error = (await openPostgresEngineReader({ url: wrong }).catch((thrown: unknown) => thrown)) as Error
      expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
      expect(error.message).not.toMatch(/s3cret|\n/)
    }
    const forbidden = openPostgresEngine({ url: of('reader', 'postgres') })
    await expect(forbidden).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringMatching(/missing a privilege/),
    })
    await server.sql('DROP ROLE reader')
  })

  it('is said of a store of a newer program, and of a table that somebody changed', async () => {
    const engine = await open()
    await engine.commit(versionsFrom(0n, 3), CHAIN)
    await server.sql('ALTER TABLE ledger_state.entries RENAME COLUMN value TO values')
    const view = (await engine.snapshot()).at()
    expect(await failure(view.load([keyOf(0)]))).toBe('store_corrupt')
    expect(await failure(engine.commit(versionsFrom(3n, 1), CHAIN))).toBe('store_corrupt')
    await server.sql('ALTER TABLE ledger_state.entries RENAME COLUMN values TO value')
    await engine.commit(versionsFrom(3n, 1), CHAIN)
    await engine.close()
    await server.sql('INSERT INTO ledger_state.layout VALUES (99)')
    expect(await failure(open())).toBe('store_format')
    expect(await failure(openReader())).toBe('store_format')
  })

  it('is found by a check', async () => {
    const engine = await open()
    await engine.commit(versionsFrom(0n, 3), CHAIN)
    expect(await engine.check()).toEqual({ versions: 3n, keys: 3, writes: 9, problems: [] })
    await server.sql('DELETE FROM ledger_state.keys WHERE key_hash = (SELECT min(key_hash) FROM ledger_state.keys)')
    expect((await engine.check()).problems).toEqual(['3 writes of keys that are not there'])
  })

  it('is a number of at least 2^63', async () => {
    const engine = await open()
    const [one] = versionsFrom(2n ** 63n, 1)
    expect(await failure(engine.commit([one!], CHAIN))).toBe('invalid_argument')
    expect(await failure(engine.beginImport(2n ** 63n))).toBe('invalid_argument')
  })
})
