import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

// Metrics and probes are looked at elsewhere; here many run at once.
process.env.LEDGER_STATE_ADMIN_LISTEN = 'off'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))

let folder: string
const running: ChildProcess[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'program-'))
})
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

function run(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], { encoding: 'utf8', cwd: folder })
  return { status, stdout, stderr }
}

/** Starts the program and resolves once its standard output matches. */
async function launch(until: RegExp, ...words: string[]) {
  const child = spawn(process.execPath, [program, ...words], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  running.push(child)
  const ended = new Promise<number | null>((resolve) => child.on('exit', (code) => resolve(code)))
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += chunk
      if (until.test(output)) resolve()
    })
    child.stderr.on('data', (chunk) => {
      output += chunk
    })
    void ended.then((code) => reject(new Error(`ended with status ${code}: ${output}`)))
  })
  return { child, ended, output, address: /on (http:\/\/\S+)\/v1/.exec(output)?.[1] ?? '' }
}

const HEADER = '{"format":"ledger-feed","format_version":1,"chain_id":4}'
const row = (version: number) =>
  JSON.stringify({
    version: String(version),
    ...(version % 10 === 0 && { block: { height: String(version / 10), epoch: '0', timestamp_usec: String(version) } }),
    writes: [
      ['0x01', `0x${version.toString(16).padStart(8, '0')}`],
      [
        `0x02${(version % 97).toString(16).padStart(4, '0')}`,
        version % 3 === 0 ? null : `0x${version.toString(16).padStart(6, '0')}`,
      ],
    ],
  })
const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => row(from + at))

function feed(...lines: string[]): string {
  const path = join(folder, `feed-${Math.random()}.ndjson`)
  writeFileSync(path, lines.join('\n'))
  return path
}

const dataDir = () => join(folder, 'store')
const ingest = (path: string, ...options: string[]) => run('ingest', path, '--data-dir', dataDir(), ...options)
const info = () => JSON.parse(run('info', '--data-dir', dataDir(), '--json').stdout)

describe('the command line', () => {
  it.each([
    'start',
    'ingest',
    'serve',
    'info',
    'get table-item',
    'get raw-item',
    'get balance',
    'prune',
    'check',
    'snapshot',
  ])('explains %s', (command) => {
    const { status, stdout } = run(...command.split(' '), '--help')
    expect(status).toBe(0)
    expect(stdout).toContain(`Usage: ledger-state ${command}`)
    expect(run('--help').stdout).toContain(command)
  })

  it.each([
    [['nonsense']],
    [['get']],
    [['serve']],
    [['serve', '--data-dir', 'x', '--no-such-option']],
    [['serve', '--data-dir']],
    [['serve', '--data-dir', 'x', 'surplus']],
    [['serve', '--data-dir', 'x', '--listen', 'nowhere']],
    [['serve', '--data-dir', 'x', '--listen', '127.0.0.1:70000']],
    [['serve', '--data-dir', 'x', '--header-word', 'a b']],
    [['serve', '--data-dir', 'x', '--no-json', '--no-bcs']],
    [['prune', '--data-dir', 'x']],
    [['prune', '--data-dir', 'x', '--retain', '0']],
    [['prune', '--data-dir', 'x', '--retain', '1e3']],
    [['ingest', '--data-dir', 'x']],
    [['ingest', 'feed', '--data-dir', 'x', '--to', '-1']],
    [['get', 'balance', '0xzz', '0xa', '--data-dir', 'x']],
    [['get', 'balance', '0x1', 'nonsense', '--data-dir', 'x']],
    [['get', 'raw-item', '0x1', '0x1', '--data-dir', 'x']],
    [['get', 'table-item', '0x1', '--key-type', 'u9', '--value-type', 'u8', '--key', '1', '--data-dir', 'x']],
    [['get', 'table-item', '0x1', '--key-type', 'u8', '--value-type', 'u8', '--key', 'x', '--data-dir', 'x']],
  ])('answers %j with one line and status 2', (words) => {
    const { status, stdout, stderr } = run(...words)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^ledger-state: .+\n$/)
  })

  it.each([
    [['info', '--data-dir', 'absent'], 'no ledger store in absent'],
    [['get', 'balance', '0x1', '0xa', '--data-dir', 'absent'], 'no ledger store'],
    [['prune', '--data-dir', 'absent', '--retain', '1'], 'no ledger store'],
    [['ingest', 'absent', '--data-dir', 'x'], 'cannot be read'],
  ])('answers %j with what failed and status 1', (words, message) => {
    const { status, stderr } = run(...words)
    expect(status).toBe(1)
    expect(stderr).toContain(message)
  })
})

describe('ingest', () => {
  it('takes a feed in, skips what it has, goes on with what follows, and stops at --to', () => {
    expect(ingest(feed(HEADER, ...rows(0, 50)), '--to', '29')).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('30 versions'),
    })
    expect(info()).toMatchObject({ chain_id: 4, ledger_version: '29', block_height: '2', keys: 21 })
    expect(ingest(feed(HEADER, ...rows(0, 50)))).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('20 versions'),
    })
    expect(ingest(feed(HEADER, ...rows(45, 60)))).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('10 versions'),
    })
    expect(info()).toMatchObject({ ledger_version: '59', oldest_ledger_version: '0', block_height: '5' })
  })

  it('refuses a gap, another chain, a start above 0 and a cut line, naming the line; what precedes stays', () => {
    const refused = (path: string) => {
      const { status, stderr } = ingest(path)
      expect(status).toBe(1)
      return stderr
    }
    expect(refused(feed(HEADER, ...rows(10, 20)))).toContain('line 2: version 10, but the store is empty')
    expect(refused(feed(HEADER, ...rows(0, 7), row(7).slice(0, 40)))).toContain('line 9:')
    expect(info().ledger_version).toBe('6')
    expect(refused(feed(HEADER, ...rows(9, 12)))).toContain('line 2: version 9, but the store goes on at version 7')
    expect(refused(feed(HEADER, ...rows(0, 9), row(10)))).toContain('line 11: version 10 follows version 8')
    expect(refused(feed(HEADER.replace('4}', '5}'), ...rows(9, 12)))).toContain(
      'line 1: the source is of chain 5, the store holds chain 4',
    )
    const path = feed('')
    const whole = gzipSync([HEADER, ...rows(0, 2_000)].join('\n'))
    writeFileSync(path, whole.subarray(0, whole.length - 2_000))
    expect(refused(path)).toMatch(/line \d+: the file cannot be read on/)
    expect(Number(info().ledger_version)).toBeGreaterThan(100)
  })

  it('prunes to a window of whole blocks', () => {
    ingest(feed(HEADER, ...rows(0, 100)), '--retain', '35')
    expect(info()).toMatchObject({
      ledger_version: '99',
      oldest_ledger_version: '70',
      oldest_block_height: '7',
      blocks: 3,
    })
    expect(run('prune', '--data-dir', dataDir(), '--retain', '15')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('the oldest version is 90'),
    })
    expect(info()).toMatchObject({ oldest_ledger_version: '90' })
  })

  it('checks a store and copies it, also while another process writes', async () => {
    ingest(feed(HEADER, ...rows(0, 100)), '--retain', '35')
    const engine = openStateEngine({ path: dataDir() })
    const checked = run('check', '--data-dir', dataDir())
    expect(checked).toMatchObject({ status: 0, stdout: expect.stringMatching(/^sound: [\d,]+ records: /) })
    const copy = join(folder, 'copy')
    for (const options of [[], ['--compact']]) {
      rmSync(copy, { recursive: true, force: true })
      const { status, stdout } = run('snapshot', copy, '--data-dir', dataDir(), ...options)
      expect([status, stdout]).toEqual([0, `${copy} holds versions 70 to 99\n`])
      expect(run('check', '--data-dir', copy).status).toBe(0)
    }
    const again = run('snapshot', copy, '--data-dir', dataDir())
    expect([again.status, again.stderr]).toEqual([1, `ledger-state: ${copy} holds a store already\n`])
    await engine.close()
    expect(run('ingest', feed(HEADER, ...rows(0, 110)), '--data-dir', copy).status).toBe(0)
  })

  it('is refused while another process writes', async () => {
    const engine = openStateEngine({ path: dataDir() })
    const { status, stderr } = ingest(feed(HEADER, ...rows(0, 10)))
    expect([status, stderr]).toEqual([1, expect.stringContaining('another process writes to this store')])
    await engine.close()
    expect(ingest(feed(HEADER, ...rows(0, 10))).status).toBe(0)
  })

  it('killed at random and run again gives what one run gives', async () => {
    const path = feed(HEADER, ...rows(0, 20_000))
    for (let round = 0; round < 4; round++) {
      const child = spawn(process.execPath, [program, 'ingest', path, '--data-dir', dataDir()], { stdio: 'ignore' })
      const ended = new Promise((resolve) => child.on('exit', resolve))
      await new Promise((resolve) => setTimeout(resolve, 150 + round * 40))
      child.kill('SIGKILL')
      await ended
    }
    expect(ingest(path).status).toBe(0)
    const once = join(folder, 'once')
    expect(run('ingest', path, '--data-dir', once).status).toBe(0)

    const [broken, whole] = [dataDir(), once].map((one) => openStateEngineReader({ path: one }))
    expect(broken!.ledger).toEqual(whole!.ledger)
    expect(broken!.stats).toMatchObject({
      keys: whole!.stats.keys,
      historyEntries: whole!.stats.historyEntries,
      blocks: whole!.stats.blocks,
    })
    const keys = [Uint8Array.of(1), ...Array.from({ length: 97 }, (_, at) => Uint8Array.of(2, 0, at))]
    for (let version = 0n; version < 20_000n; version += 37n) {
      for (const key of keys) expect(broken!.at(version).get(key)).toEqual(whole!.at(version).get(key))
    }
    await broken!.close()
    await whole!.close()
  })

  it('stops at a signal with what it has read, and goes on later', async () => {
    const path = feed(HEADER, ...rows(0, 60_000))
    const child = spawn(process.execPath, [program, 'ingest', path, '--data-dir', dataDir()], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let output = ''
    child.stderr.on('data', (chunk) => {
      output += chunk
    })
    const ended = new Promise((resolve) => child.on('exit', resolve))
    // It listens to signals before it opens the store.
    while (!existsSync(join(dataDir(), 'state.mdb'))) await new Promise((resolve) => setTimeout(resolve, 5))
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(output).toMatch(/^(stopped; run it again to go on|ingested): /)
    expect(ingest(path).status).toBe(0)
    expect(info().ledger_version).toBe('59999')
  })
})

describe('serve', () => {
  it('serves an empty store as 503, and what another process ingests into it as it comes', async () => {
    const { child, ended, address } = await launch(
      /serving/,
      'serve',
      '--data-dir',
      dataDir(),
      '--listen',
      '127.0.0.1:0',
    )
    expect((await fetch(`${address}/v1`)).status).toBe(503)
    expect(ingest(feed(HEADER, ...rows(0, 20))).status).toBe(0)
    expect(await (await fetch(`${address}/v1`)).json()).toMatchObject({ ledger_version: '19', chain_id: 4 })
    child.kill('SIGINT')
    expect(await ended).toBe(0)
  })

  it('prunes to --retain, and says when the address is taken', async () => {
    ingest(feed(HEADER, ...rows(0, 100)))
    const { address } = await launch(
      /serving/,
      'serve',
      '--data-dir',
      dataDir(),
      '--listen',
      '127.0.0.1:0',
      '--retain',
      '20',
    )
    expect(await (await fetch(`${address}/v1`)).json()).toMatchObject({ oldest_ledger_version: '80' })
    const { status, stderr } = run('serve', '--data-dir', dataDir(), '--listen', address.slice('http://'.length))
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining('the address is in use; choose another with --listen'),
    ])
  })
})

describe('start', () => {
  it('serves the demonstration ledger, whose curl lines work as printed, and keeps it', async () => {
    const { child, ended, output, address } = await launch(/od -c\n/, 'start', '--listen', '127.0.0.1:0')
    const lines = output.split('\n').filter((line) => line.startsWith('curl'))
    expect(lines.length).toBe(3)
    const [balance, item, raw] = lines.map((line) => spawnSync('bash', ['-c', line], { encoding: 'utf8' }))
    expect(balance!.stdout).toMatch(/^\d+$/)
    expect(JSON.parse(item!.stdout)).toMatchObject({ amount: expect.any(String), currency: { inner: '0xa' } })
    expect(raw!.stdout).toMatch(/^0000000 /)
    expect(lines.some((line) => /ledger_version=\d/.test(line))).toBe(true)
    expect((await fetch(`${address}/v1/accounts/0xa11ce/balance/0xa?ledger_version=1`)).status).toBe(410)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)

    const again = await launch(/od -c\n/, 'start', '--listen', '127.0.0.1:0')
    expect(again.output).not.toContain('ingested')
    expect(
      spawnSync('bash', ['-c', again.output.split('\n').find((line) => line.startsWith('curl'))!], { encoding: 'utf8' })
        .stdout,
    ).toBe(balance!.stdout)
  })

  it('goes on with a first ingest that was cut short', async () => {
    const path = feed(HEADER, ...rows(0, 100))
    run('ingest', path, '--data-dir', dataDir(), '--to', '49')
    writeFileSync(join(dataDir(), 'ingest-under-way'), '')
    const { address } = await launch(
      /serving/,
      'start',
      '--data-dir',
      dataDir(),
      '--from',
      path,
      '--listen',
      '127.0.0.1:0',
    )
    expect(await (await fetch(`${address}/v1`)).json()).toMatchObject({ ledger_version: '99' })
  })

  it.skipIf(!hasSharedData)('serves the genesis of mainnet with layouts out of its own modules', async () => {
    const source = sharedPath('data/genesis/mainnet.genesis.blob')
    const { address } = await launch(
      /serving/,
      'start',
      '--data-dir',
      dataDir(),
      '--from',
      source,
      '--listen',
      '127.0.0.1:0',
    )
    const supply = await fetch(
      `${address}/v1/tables/0x1b854694ae746cdbd8d44186ca4929b2b337df21d1c74633be19b2710552fdca/item`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          key_type: 'address',
          value_type: 'u128',
          key: '0x619dc29a0aac8fa146714058e8dd6d2d0f3bdf5f6331907bf91f3acd81e6935',
        }),
      },
    )
    expect(await supply.text()).toBe('"100000000000000000"')
  })
})

describe('get', () => {
  it('reads what the server reads', async () => {
    await launch(/serving/, 'start', '--data-dir', dataDir(), '--listen', '127.0.0.1:0')
    const get = (...words: string[]) => run('get', ...words, '--data-dir', dataDir())
    const typed = [
      'table-item',
      '0x7ab1e3',
      '--key-type',
      '0xdecaf::harbour::Good',
      '--value-type',
      '0xdecaf::harbour::Price',
      '--key',
      '{"Tea":{}}',
    ]
    expect(JSON.parse(get(...typed).stdout)).toMatchObject({ currency: { inner: '0xa' } })
    expect(get(...typed, '--bcs').stdout).toMatch(/^0x[0-9a-f]{112}\n$/)
    expect(get('raw-item', '0x7ab1e3', '0x01').stdout).toBe(get(...typed, '--bcs').stdout)
    expect(get('balance', 'a11ce', '0xdecaf::bean::Bean', '--version', '1500').stdout).toMatch(/^\d+\n$/)
    expect(get('balance', 'a11ce', '0xa', '--bcs').stdout).toMatch(/^0x[0-9a-f]{16}\n$/)
    expect(get('balance', 'a11ce', '0xa', '--version', '1')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('has been pruned'),
    })
    expect(get('raw-item', '0x7ab1e3', '0x09')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Table Item not found'),
    })
  })
})

it('the demonstration ledger is the same each time', () => {
  const digest = () => {
    const path = mkdtempSync(join(folder, 'demo-'))
    spawnSync(process.execPath, [
      '--input-type=module',
      '-e',
      `
      const { openDemoLedger } = await import(${JSON.stringify(new URL('../dist/demo/demo-ledger.js', import.meta.url).href)})
      const { writeFileSync } = await import('node:fs')
      const lines = []
      for await (const { version, writes } of openDemoLedger().versions())
        lines.push(version + ' ' + writes.map(([k, v]) => Buffer.from(k).toString('hex') + '=' + (v && Buffer.from(v).toString('hex'))).join(' '))
      writeFileSync(${JSON.stringify(join(path, 'all'))}, lines.join('\\n'))`,
    ])
    return readFileSync(join(path, 'all'), 'utf8')
  }
  const first = digest()
  expect(first.split('\n').length).toBe(3_000)
  expect(digest()).toBe(first)
})
