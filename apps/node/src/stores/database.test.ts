// The commands on a store in a database, run against a real PostgreSQL server.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSource } from '@ledger-state/feed'
import { ingestSource } from '@ledger-state/ingest'
import { type PostgresServer, startPostgres } from '@ledger-state/postgres-engine/testing/postgres-server'
import { parseSliceSpec } from '@ledger-state/slices'
import { openAssembly } from '@ledger-state/state-engine'
import { eventually } from '@ledger-state/testing/eventually'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { LATEST_VERSION, SIGNED_VERSION, writeContradictedStore } from '../../testing/contradicted-store.ts'
import { demoFeed } from '../../testing/demo-feed.ts'
import { FEED_HEADER, feedRows } from '../../testing/feed-rows.ts'
import { PRICES } from '../demo/demo-addresses.js'
import { openDemoLedger } from '../demo/demo-ledger.js'
import { openDatabaseWriter } from './open-database.js'
import { openWriter } from './open-writer.js'

const PASSWORD = 'geheim'

let server: PostgresServer
let bed: CommandBed
let databases = 0
beforeAll(async () => {
  server = await startPostgres()
  await server.sql(`CREATE ROLE reader LOGIN PASSWORD '${PASSWORD}'`)
}, 60_000)
afterAll(async () => {
  await server.close()
})
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  await bed.close()
})

/** Whether this machine has the client programs of PostgreSQL, which the embedded server lacks. */
const HAS_CREATEDB = spawnSync('createdb', ['--version']).status === 0

/** Runs the first part of the command that a refusal prints. */
async function createAsTold(maintenance: string, database: string): Promise<void> {
  if (!HAS_CREATEDB) {
    console.log('createdb is not on this machine: the database of the wider store is created without it')
    await server.createDatabase(database)
    return
  }
  const environment = { ...process.env, PGPASSWORD: 'secret' }
  const words = [`--maintenance-db=${maintenance}`, database]
  expect(spawnSync('createdb', words, { env: environment, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
}

async function emptyStore(): Promise<string> {
  return await server.createDatabase(`store_${databases++}`)
}

/** Makes a user whom the server admits only with a password. */
async function guardWithPassword(user: string): Promise<void> {
  await server.sql(`CREATE ROLE ${user} LOGIN PASSWORD 'another'`)
  const file = join(server.folder, 'data', 'pg_hba.conf')
  writeFileSync(file, `host all ${user} 127.0.0.1/32 scram-sha-256\n${readFileSync(file, 'utf8')}`)
  await server.sql('SELECT pg_reload_conf()')
  const client = () => new pg.Client({ connectionString: server.url().replace('postgres@', `${user}@`) })
  await eventually(
    () =>
      client()
        .connect()
        .then(
          () => false,
          () => true,
        ),
    () => 'the server to ask for the password',
  )
}

/** Ingests a feed into an empty database, and returns the database's URL. */
async function filledStore(versions: number, ...options: string[]): Promise<string> {
  const url = await emptyStore()
  writeFileSync(bed.at('feed.ndjson'), [FEED_HEADER, ...feedRows(0, versions)].join('\n'))
  expect(bed.run('ingest', 'feed.ndjson', '--store', url, ...options)).toMatchObject({ status: 0 })
  return url
}

describe('a store in a database', () => {
  it('remembers that validators signed another ledger, until the unsigned versions are cut off', async () => {
    const url = await emptyStore()
    await writeContradictedStore(bed.folder, () => openDatabaseWriter(url, true))
    const ingest = (source: string) => bed.run('ingest', source, '--store', url)
    expect(ingest('endings').stderr).toMatch(
      /signed a ledger up to version \d+ that differs from the unsigned versions of this store/,
    )
    expect(ingest('backup').stderr).toMatch(/^ledger-state: the store: the validators of epoch 4 signed a ledger/)
    expect(bed.run('trust', 'reject-unsigned', '--store', url).stdout).toContain(`is ${SIGNED_VERSION}\n`)
    expect(ingest('backup')).toMatchObject({ status: 0 })
    expect(bed.run('trust', 'check', '--store', url).stdout).toMatch(
      /^sound: \d+ epoch changes, 0 to \d+, are verified/,
    )
    expect(JSON.parse(bed.run('info', '--json', '--store', url).stdout)).toMatchObject({
      signed_version: String(LATEST_VERSION),
      contradicted_version: null,
    })
  })

  it('keeps a slice, refuses another with the commands that make a wider one, which work, and names the unknown data', async () => {
    const url = await emptyStore()
    writeFileSync(bed.at('demo.ndjson'), await demoFeed(200n))
    const guarded = url.replace('postgres@', 'postgres:secret@')
    expect(
      bed.run(
        'ingest',
        'demo.ndjson',
        '--store',
        guarded,
        '--only-account',
        '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
      ),
    ).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('a slice: '),
    })
    const { status, stderr } = bed.run('ingest', 'demo.ndjson', '--store', guarded, '--only-table', PRICES)
    expect(status).toBe(1)
    expect(stderr).not.toContain('secret')
    const told = /: createdb --maintenance-db=(\S+) (\S+) && ledger-state (.*) \(with the password in PGPASSWORD\)\n$/
    const [, maintenance, database, command] = told.exec(stderr) ?? expect.fail(stderr)
    expect(maintenance).toBe(url)
    await createAsTold(maintenance!, database!)
    expect(bed.run(...command!.split(' '))).toMatchObject({ status: 0 })
    const item = (store: string) => bed.run('get', 'raw-item', PRICES, '0x01', '--store', store)
    expect(item(server.url(database))).toMatchObject({ status: 0 })
    expect(item(url)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`ingest with --only-table ${PRICES} to keep it`),
    })
    const leftOut = (store: readonly string[]) => JSON.parse(bed.run('info', '--json', ...store).stdout).slice.left_out
    expect(
      bed.run(
        'ingest',
        'demo.ndjson',
        '--data-dir',
        'folder',
        '--only-account',
        '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
      ),
    ).toMatchObject({
      status: 0,
    })
    expect(leftOut(['--store', url])).toEqual(leftOut(['--data-dir', 'folder']))
    expect(leftOut(['--store', url])).toMatchObject({ keys: 0, writes: expect.any(Number) })
    expect(bed.run('info', '--store', url).stdout).toMatch(/^ *left out +[1-9]/m)
    const slice = bed.run('info', '--slice', '--store', server.url(database)).stdout
    expect(slice.split('\n')).toEqual([
      '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
      `table ${PRICES}`,
      '',
    ])
  })

  it('does not become a whole store after a slice that was cut short, nor does a folder', async () => {
    writeFileSync(bed.at('demo.ndjson'), await demoFeed(60n))
    for (const words of [
      ['ingest', 'demo.ndjson', '--data-dir', 'whole', '--retain', '20'],
      ['export', 'state.ndjson', '--data-dir', 'whole'],
    ]) {
      expect(bed.run(...words)).toMatchObject({ status: 0 })
    }
    const url = await emptyStore()
    for (const [place, words] of [
      [{ kind: 'folder', dataDir: bed.at('slice') }, ['--data-dir', 'slice']],
      [{ kind: 'database', url }, ['--store', url]],
    ] as const) {
      const engine = await openWriter(place)
      const reopen = () => openSource(bed.at('state.ndjson'))
      const only = {
        spec: parseSliceSpec({ accounts: ['0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab'] }),
        reopen,
      }
      await ingestSource(engine, await reopen(), { only, signal: AbortSignal.abort() })
      await engine.close()
      for (const source of ['state.ndjson', 'demo.ndjson']) {
        expect(bed.run('ingest', source, ...words)).toMatchObject({
          status: 1,
          stderr: expect.stringContaining('the ingest of a slice into this store was interrupted'),
        })
      }
      const { status, stderr } = bed.run(
        'ingest',
        'state.ndjson',
        ...words,
        '--only-account',
        '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
      )
      expect(stderr).toContain('a slice: ')
      expect(status).toBe(0)
    }
  })

  it.runIf(isSlowRun)(
    'keeps transactions as a folder does, which exports and snapshots carry to other stores',
    async () => {
      const [url, again] = [await emptyStore(), await emptyStore()]
      const engine = await openDatabaseWriter(url, true)
      await ingestSource(engine, openDemoLedger(), { retain: 150n, keepTransactions: 'summary' })
      await engine.close()
      for (const words of [
        ['snapshot', 'copy', '--store', url],
        ['export', 'a.ndjson', '--data-dir', 'copy'],
        ['ingest', 'a.ndjson', '--store', again],
      ]) {
        expect([words, bed.run(...words)]).toMatchObject([words, { status: 0 }])
      }
      const history = [
        'history',
        'balance',
        '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
        '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::bean::Bean',
        '--csv',
      ]
      const printed = (...place: string[]) => bed.run(...history, ...place).stdout
      const ofDatabase = printed('--store', url)
      expect(ofDatabase).toMatch(/^version,timestamp,time,balance,error,transaction,sender,function,success\n/)
      expect(ofDatabase).toMatch(
        /^29\d\d,.*,,0x[0-9a-f]{64},0x[0-9a-f]+,0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour::trade,true$/m,
      )
      expect(printed('--data-dir', 'copy')).toBe(ofDatabase)
      expect(printed('--store', again)).toBe(ofDatabase)
      expect(bed.run('info', '--store', again).stdout).toMatch(/^ *transactions +summaries, kept$/m)
      expect(JSON.parse(bed.run('info', '--json', '--store', url).stdout)).toMatchObject({ transactions_since: '0' })
    },
  )

  it.runIf(isSlowRun)('and a folder pass a ledger to each other by exports', async () => {
    await bed.fill('folder', 100, { retain: 35n })
    const [url, again] = [await emptyStore(), await emptyStore()]
    for (const words of [
      ['export', 'a.ndjson', '--data-dir', 'folder'],
      ['ingest', 'a.ndjson', '--store', url],
      ['check', '--store', url],
      ['export', 'b.ndjson', '--store', url],
      ['ingest', 'b.ndjson', '--data-dir', 'copy'],
      ['export', 'c.ndjson', '--data-dir', 'copy'],
      ['ingest', 'c.ndjson', '--store', again],
      ['export', 'd.ndjson', '--store', again],
    ]) {
      expect([words, bed.run(...words)]).toMatchObject([words, { status: 0 }])
    }
    expect(await bed.digest('copy')).toBe(await bed.digest('folder'))
    const [first, ...others] = ['a', 'b', 'c', 'd'].map((name) => readFileSync(bed.at(`${name}.ndjson`), 'utf8'))
    for (const other of others) expect(other).toBe(first)
  })

  it.runIf(isSlowRun)(
    'is copied into a folder, and a folder into it, and whoever filled it continues with the copy',
    async () => {
      await bed.fill('folder', 100, { retain: 35n })
      const url = await emptyStore()
      for (const words of [
        ['snapshot', url, '--data-dir', 'folder'],
        ['check', '--store', url],
        ['snapshot', 'copy', '--store', url],
      ]) {
        expect([words, bed.run(...words)]).toMatchObject([
          words,
          { status: 0, stdout: expect.stringMatching(/ holds versions 60 to 99\n|^sound: /) },
        ])
      }
      expect(await bed.digest('copy')).toBe(await bed.digest('folder'))
      for (const words of [
        ['snapshot', url, '--data-dir', 'folder'],
        ['snapshot', 'copy', '--store', url],
      ]) {
        expect(bed.run(...words)).toMatchObject({
          status: 1,
          stderr: expect.stringMatching(
            /^ledger-state: \S+ already holds a store: name another folder or database for the copy\n$/,
          ),
        })
      }
      writeFileSync(bed.at('more.ndjson'), [FEED_HEADER, ...feedRows(0, 150)].join('\n'))
      for (const place of [
        ['--store', url],
        ['--data-dir', 'copy'],
        ['--data-dir', 'folder'],
      ]) {
        expect(bed.run('ingest', 'more.ndjson', ...place)).toMatchObject({
          status: 0,
          stderr: expect.stringMatching(/ingested: 50 versions, .*; the store holds versions 60 to 149/),
        })
      }
      expect(await bed.digest('copy')).toBe(await bed.digest('folder'))
      expect(bed.run('export', 'a.ndjson', '--store', url).status).toBe(0)
      expect(bed.run('export', 'b.ndjson', '--data-dir', 'folder').status).toBe(0)
      expect(readFileSync(bed.at('a.ndjson'), 'utf8')).toBe(readFileSync(bed.at('b.ndjson'), 'utf8'))
    },
  )

  it('is not copied into a folder for which another command is making a store', async () => {
    const url = await filledStore(20)
    const other = openAssembly(bed.at('copy'))
    writeFileSync(join(other.folder, 'segment-1.part'), 'fetched so far')
    try {
      expect(bed.run('snapshot', 'copy', '--store', url)).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/another writer .*copy\.unfinished/),
      })
      expect(readFileSync(join(other.folder, 'segment-1.part'), 'utf8')).toBe('fetched so far')
    } finally {
      other.close()
    }
    expect(bed.run('snapshot', 'copy', '--store', url)).toMatchObject({ status: 0 })
    expect(readdirSync(bed.folder).filter((name) => name.startsWith('copy'))).toEqual(['copy'])
  })

  it('prints its content, is pruned, and resumes', async () => {
    const url = await filledStore(100)
    const facts = () => JSON.parse(bed.run('info', '--json', '--store', url).stdout)
    expect(facts()).toMatchObject({ ledger_version: '99', oldest_ledger_version: '0', base: 'genesis' })
    expect(bed.run('prune', '--store', url, '--retain', '35')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('the oldest version is 60'),
    })
    expect(facts()).toMatchObject({ oldest_ledger_version: '60' })
    writeFileSync(bed.at('feed.ndjson'), [FEED_HEADER, ...feedRows(0, 150)].join('\n'))
    expect(bed.run('ingest', 'feed.ndjson', '--store', url)).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/ingested: 50 versions, .*; the store holds versions 60 to 149/),
    })
    expect(bed.run('check', '--store', url)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^sound: /) })
  })

  it.runIf(isSlowRun)(
    'is served as a folder is, and named by the environment, without its password anywhere',
    async () => {
      await bed.fill('folder', 100, { retain: 35n })
      const url = await filledStore(100, '--retain', '35')
      const secret = new URL(url)
      secret.password = PASSWORD
      const env = { LEDGER_STATE_STORE: secret.href }
      const printed = bed.runWith({ env }, 'config', '--print')
      expect(printed.stdout + printed.stderr).not.toContain(PASSWORD)
      const [folder, database] = [
        await bed.serve('serve', '--data-dir', 'folder', '--readers', '1'),
        await bed.serve('serve', '--store', secret.href, '--readers', '1', '--log-level', 'debug'),
      ]
      const ask = async (address: string, path: string) => {
        const response = await fetch(`${address}/v1${path}`)
        const headers = [...response.headers].filter(([name]) => name.startsWith('x-') || name === 'etag')
        return { status: response.status, headers, body: await response.text() }
      }
      for (const path of ['', '/accounts/0x1/balance/0xa?ledger_version=61', '/blocks/by_height/7', '/accounts/0x1']) {
        expect(await ask(database.address, path)).toEqual(await ask(folder.address, path))
      }
      expect(database.program.output).not.toContain(PASSWORD)
    },
  )

  it.runIf(isSlowRun)('is refused in one clear line, without its password', async () => {
    const url = await filledStore(10)
    const address = new URL(url)
    const as = (change: (changed: URL) => void): string => {
      const changed = new URL(address.href)
      changed.password = PASSWORD
      change(changed)
      return changed.href
    }
    await server.sql('CREATE ROLE stranger LOGIN', 'postgres')
    const cases: [string, RegExp][] = [
      [as((other) => (other.pathname = '/nowhere')), /there is no such database/],
      [as((other) => (other.port = '1')), /does not answer/],
      [as((other) => (other.username = 'nobody_at_all')), /refuses/],
      [as((other) => (other.username = 'stranger')), /missing a privilege/],
      [as((other) => (other.username = 'guarded')), /refuses guarded@.*password authentication failed/],
    ]
    await guardWithPassword('guarded')
    for (const [store, message] of cases) {
      const { status, stderr, stdout } = bed.run('info', '--store', store)
      expect([store, status, stdout, stderr]).toEqual([store, 1, '', expect.stringMatching(message)])
      expect(stderr.trim().split('\n')).toHaveLength(1)
      expect(stderr).not.toContain(PASSWORD)
    }
    expect(bed.run('serve', '--store', await emptyStore())).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/there is no ledger store in .*: ingest something/),
    })
  })

  it.runIf(isSlowRun)(
    'that a newer program or somebody else has changed is refused in one clear line, and nothing of it is lost',
    async () => {
      const url = await filledStore(10)
      const database = new URL(url).pathname.slice(1)
      writeFileSync(bed.at('more.ndjson'), [FEED_HEADER, ...feedRows(0, 20)].join('\n'))
      const commands = [
        ['info', '--store', url],
        ['get', 'balance', '0x1', '0xa', '--store', url],
        ['export', 'out.ndjson', '--store', url],
        ['ingest', 'more.ndjson', '--store', url],
        ['serve', '--store', url, '--listen', '127.0.0.1:0'],
      ]
      await server.sql('INSERT INTO ledger_state.layout VALUES (99)', database)
      for (const words of commands) {
        const { status, stderr } = bed.run(...words)
        expect([words, status, stderr]).toEqual([
          words,
          1,
          expect.stringMatching(
            /^ledger-state: [^\n]*has layout 99, but this program reads layout \d+: ingest again[^\n]*\n$/,
          ),
        ])
      }
      await server.sql('DELETE FROM ledger_state.layout WHERE version = 99', database)
      await server.sql('ALTER TABLE ledger_state.entries RENAME COLUMN value TO contents', database)
      for (const words of commands.slice(1, 4)) {
        const { status, stderr } = bed.run(...words)
        expect([words, status, stderr.trim().split('\n').at(-1)]).toEqual([
          words,
          1,
          expect.stringMatching(/^ledger-state: .*is damaged: column .* does not exist/),
        ])
      }
      await server.sql('ALTER TABLE ledger_state.entries RENAME COLUMN contents TO value', database)
      expect(bed.run('ingest', 'more.ndjson', '--store', url)).toMatchObject({
        status: 0,
        stderr: expect.stringMatching(/the store holds versions 0 to 19/),
      })
      expect(bed.run('check', '--store', url)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^sound: /) })
    },
  )

  it('can have its tables created by its owner', async () => {
    const url = await emptyStore()
    for (let round = 0; round < 2; round++) {
      expect(bed.run('store', 'create', '--store', url)).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('has the tables of this program'),
      })
    }
    expect(bed.run('info', '--store', url)).toMatchObject({ status: 1, stderr: expect.stringContaining('is empty') })
  })
})

it('holdings of a store in a database match the same ledger in a folder', async () => {
  const url = await emptyStore()
  for (const open of [
    () => openDatabaseWriter(url, true),
    () => openWriter({ kind: 'folder', dataDir: bed.at('folder') }),
  ]) {
    const engine = await open()
    await ingestSource(engine, openDemoLedger(), { to: 599n })
    await ingestSource(engine, openDemoLedger(), { to: 1_199n, retain: 800n })
    await engine.close()
  }
  const questions = [
    [
      'get',
      'balances',
      '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
      '--version',
      '1000',
      '--csv',
    ],
    ['get', 'objects', '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15'],
    ['get', 'holders', '0xa', '--order', 'amount'],
    ['get', 'tokens', '0x250eeb464baf03ed34bd822eb717acfd600a01589b35447c914991e4e4ec9da2', '--csv'],
    [
      'history',
      'account',
      '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
      '--from',
      '900',
      '--to',
      '1100',
      '--order',
      'asc',
      '--csv',
    ],
  ]
  const answers = async (...store: string[]) => {
    const outcomes = await bed.runAll(questions.map((words) => [...words, ...store]))
    for (const { status, stderr } of outcomes) expect([status, stderr]).toEqual([0, ''])
    return outcomes.map(({ stdout }) => stdout)
  }
  const expected = await answers('--data-dir', bed.at('folder'))
  for (const answer of expected) expect(answer).not.toBe('')
  expect(await answers('--store', url)).toEqual(expected)
})
