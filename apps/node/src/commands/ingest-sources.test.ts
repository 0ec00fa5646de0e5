// The program on every source: what it takes in, where it stops, and how it goes on.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type StandInNode, startStandInNode } from '@ledger-state/feed/testing/stand-in-node'
import { SYNTHETIC_CHAIN_ID, SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually, NodeProcess } from '../testing/node-process.ts'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const KILLS = process.env.CI ? 50 : 8
const LONG = { timeout: 240_000 }

const chain = new SyntheticChain({ blocks: 60 })
const LAST = Number(chain.latestVersion)
const SNAPSHOT = chain.records.findLastIndex(({ info }, version) => version < 150 && info[9] === 0 && info[106] === 1)

let folder: string
let node: StandInNode | undefined
const running: ChildProcess[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sources-'))
})
afterEach(async () => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
  await node?.close()
  node = undefined
  rmSync(folder, { recursive: true, force: true })
})

const at = (name: string) => join(folder, name)

function run(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], { encoding: 'utf8', cwd: folder })
  return { status, stdout, stderr }
}

function start(...words: string[]) {
  const child = spawn(process.execPath, [program, ...words], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  running.push(child)
  let output = ''
  child.stdout.on('data', (text) => {
    output += text
  })
  child.stderr.on('data', (text) => {
    output += text
  })
  const ended = once(child, 'exit').then(([status]) => status as number | null)
  const until = async (wanted: RegExp | (() => boolean)) => {
    const isThere = () => (wanted instanceof RegExp ? wanted.test(output) : wanted())
    for (const began = Date.now(); !isThere(); ) {
      if (Date.now() - began > 20_000) throw new Error(`still waiting for ${wanted}: ${output}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return output
  }
  return { child, ended, until, output: () => output }
}

const ingest = (source: string, store: string, ...options: string[]) =>
  run('ingest', source, '--data-dir', at(store), ...options)
const info = (store: string) => JSON.parse(run('info', '--data-dir', at(store), '--json').stdout)

/** Everything that a store answers, as bytes. */
function digest(store: string): string {
  const check = run('check', '--data-dir', at(store))
  expect(check.stdout).toMatch(/^sound/)
  rmSync(at('digest.ndjson'), { force: true })
  const { status, stderr } = run('export', at('digest.ndjson'), '--data-dir', at(store))
  expect(stderr).toMatch(/^.*holds the state at version/)
  expect(status).toBe(0)
  return readFileSync(at('digest.ndjson'), 'utf8')
}

describe('ingest of a genesis', () => {
  it('tells its waypoint, and refuses another', () => {
    writeFileSync(at('genesis.blob'), chain.genesisBlob)
    const { stderr, status } = run('ingest', at('genesis.blob'), '--dry-run')
    expect([status, stderr]).toEqual([
      0,
      expect.stringMatching(/^sound: 1 versions \(0 to 0\).*waypoint 0:[0-9a-f]{64}/),
    ])
    const waypoint = /waypoint (0:[0-9a-f]{64})/.exec(stderr)![1]!
    const other = `0:${'ab'.repeat(32)}`
    expect(ingest(at('genesis.blob'), 'store', '--waypoint', other)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`has the waypoint ${waypoint}, not ${other}`),
    })
    expect(ingest(at('genesis.blob'), 'store', '--waypoint', waypoint).status).toBe(0)
    expect(info('store')).toMatchObject({ base: 'genesis', base_version: '0', chain_id: SYNTHETIC_CHAIN_ID })
    writeBackup(chain, at('backup'))
    expect(ingest(at('backup'), 'store', '--waypoint', waypoint).stderr).toMatch(
      /a waypoint is compared with that of a genesis/,
    )
  })

  it.skipIf(!hasSharedData)('is proven against the published waypoint', () => {
    const published = readFileSync(sharedPath('data/genesis/mainnet.waypoint.txt'), 'utf8').trim()
    const blob = sharedPath('data/genesis/mainnet.genesis.blob')
    expect(ingest(blob, 'store', '--waypoint', published).status).toBe(0)
  })

  it.each([
    [['--waypoint', '0:12'], /--waypoint: "0:12" is no VERSION:HASH/],
    [['--waypoint', `0:${'ab'.repeat(32)}`, '--no-verify'], /contradict each other/],
    [['--from', '9', '--to', '3'], /--from 9 is behind --to 3/],
    [['--chain-id', '256'], /--chain-id: 256 is out of range, 0 to 255/],
  ])('refuses %j', (options, message) => {
    expect(ingest('x', 'store', ...options)).toMatchObject({ status: 2, stderr: expect.stringMatching(message) })
    expect(run('ingest', 'x')).toMatchObject({ status: 2, stderr: expect.stringMatching(/--data-dir DIR is missing/) })
  })
})

describe('ingest of a backup', () => {
  it('goes from genesis to its end, and on behind a genesis blob', () => {
    writeBackup(chain, at('backup'), { format: 'V1' })
    expect(ingest(at('backup'), 'whole').status).toBe(0)
    writeFileSync(at('genesis.blob'), chain.genesisBlob)
    expect(ingest(at('genesis.blob'), 'parts').status).toBe(0)
    expect(ingest(at('backup'), 'parts', '--to', '50').status).toBe(0)
    expect(info('parts').ledger_version).toBe('50')
    expect(ingest(at('backup'), 'parts').status).toBe(0)
    expect(digest('parts')).toBe(digest('whole'))
    const again = ingest(at('backup'), 'parts')
    expect([again.status, again.stderr]).toEqual([0, expect.stringContaining('ingested: 0 versions')])
  })

  it('refuses to begin without a base, unless that is assumed, and says so from then on', () => {
    writeBackup(chain, at('backup'), { first: 31, chunk: 20 })
    expect(ingest(at('backup'), 'store')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/version 31, but the store is empty: .* --assume-empty-base/),
    })
    const block = chain.expected.find(({ version, block }) => version >= 31n && block)!
    const { status, stderr } = ingest(at('backup'), 'store', '--assume-empty-base')
    expect([status, stderr]).toEqual([
      0,
      expect.stringContaining(`begins at version ${block.version} on an assumed empty base`),
    ])
    expect(info('store')).toMatchObject({ base: 'assumed_empty', base_version: String(block.version) })
    expect(run('info', '--data-dir', at('store')).stdout).toMatch(
      /assumed empty before version .* not known to be absent/,
    )
    // What was exported of it is no complete state either.
    run('export', at('some.ndjson.gz'), '--data-dir', at('store'))
    expect(ingest(at('some.ndjson.gz'), 'copy')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('--assume-empty-base'),
    })
    expect(ingest(at('some.ndjson.gz'), 'copy', '--assume-empty-base').status).toBe(0)
    expect(info('copy').base).toBe('assumed_empty')
  })

  it('begins where it is told, and does not leave a gap', () => {
    writeBackup(chain, at('backup'))
    const block = chain.expected.find(({ version, block }) => version >= 60n && block)!
    expect(ingest(at('backup'), 'store', '--from', '60', '--to', '90', '--assume-empty-base').status).toBe(0)
    expect(info('store')).toMatchObject({ oldest_ledger_version: String(block.version), ledger_version: '90' })
    expect(ingest(at('backup'), 'store', '--from', '95')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('version 95 is asked for, but the store goes on at version 91'),
    })
    expect(run('ingest', at('backup'), '--dry-run', '--from', '60', '--to', '90').stderr).toMatch(
      /sound: 31 versions \(60 to 90\)/,
    )
  })

  it('goes on behind a state snapshot, and answers as a store from genesis does', () => {
    const snapshot = writeBackup(chain, at('backup'), { snapshot: { version: SNAPSHOT, chunk: 15 } })
    expect(ingest(snapshot, 'store')).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/a state of \d+ entries/),
    })
    expect(info('store')).toMatchObject({
      base: 'state',
      base_version: String(SNAPSHOT),
      ledger_version: String(SNAPSHOT),
    })
    expect(ingest(at('backup'), 'store').status).toBe(0)
    expect(ingest(at('backup'), 'whole').status).toBe(0)
    run('export', at('a'), '--data-dir', at('store'), '--from', String(SNAPSHOT))
    run('export', at('b'), '--data-dir', at('whole'), '--from', String(SNAPSHOT))
    // The store from genesis knows which versions wrote the entries of the state; all else is the same.
    const lines = (name: string) => readFileSync(at(name), 'utf8').split('\n')
    const withoutVersions = (line: string) =>
      line.startsWith('{"state"') ? JSON.stringify(JSON.parse(line).state.map(([k, v]: string[]) => [k, v])) : line
    expect(lines('a').map(withoutVersions)).toEqual(lines('b').map(withoutVersions))
    expect(ingest(snapshot, 'whole').stderr).toMatch(/ingested: 0 versions/)
    expect(ingest(at('backup'), 'early', '--to', '20').status).toBe(0)
    expect(ingest(snapshot, 'early')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('goes under an empty store'),
    })
  })

  it('stops at a damaged chunk, names it, serves what is before, and goes on once it is whole', () => {
    writeBackup(chain, at('backup'), { gzip: false })
    const chunk = at('backup/transaction_50-.ab12/75-.chunk')
    const whole = readFileSync(chunk)
    for (const damaged of [
      whole.subarray(0, whole.length >> 1),
      Buffer.concat([whole.subarray(0, 200), Buffer.of(1), whole.subarray(201)]),
    ]) {
      writeFileSync(chunk, damaged)
      const { status, stderr } = ingest(at('backup'), 'store')
      expect([status, stderr]).toEqual([1, expect.stringMatching(/transaction_50-.ab12\/75-.chunk.*record \d+/)])
      expect(info('store').ledger_version).toBe('74')
    }
    renameSync(chunk, `${chunk}.away`)
    expect(ingest(at('backup'), 'store').stderr).toMatch(/the backup lacks .*75-.chunk/)
    writeFileSync(chunk, whole)
    expect(ingest(at('backup'), 'store').status).toBe(0)
    expect(info('store').ledger_version).toBe(String(LAST))
  })

  it('refuses another ledger than the one it holds, by its accumulator or by what it wrote', () => {
    writeBackup(chain, at('backup'))
    writeBackup(new SyntheticChain({ blocks: 60, seed: 5 }), at('other'))
    for (const verify of [[], ['--no-verify']]) {
      rmSync(at('store'), { recursive: true, force: true })
      const busy = chain.expected.findIndex(({ writes }, version) => version > 60 && writes.length > 3)
      expect(ingest(at('backup'), 'store', '--to', String(busy), ...verify).status).toBe(0)
      expect(ingest(at('other'), 'store', ...verify)).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(
          verify.length === 0 ? /is not the one that the store holds/ : /is another than the one/,
        ),
      })
    }
  })

  it('says where a full disk stopped it, and goes on when there is space', () => {
    writeBackup(new SyntheticChain({ blocks: 250 }), at('backup'))
    const words = [program, 'ingest', at('backup'), '--data-dir', at('store')]
    const limited = `ulimit -f 160; exec "$0" "$@"`
    const { status, stderr } = spawnSync('bash', ['-c', limited, process.execPath, ...words], { encoding: 'utf8' })
    expect(stderr).toMatch(/ledger-state: .*(full|version|record)/)
    expect(status).toBe(1)
    expect(ingest(at('backup'), 'store').status).toBe(0)
    ingest(at('backup'), 'whole')
    expect(digest('store')).toBe(digest('whole'))
  })

  it('names the chain that no source tells of', () => {
    writeBackup(chain, at('backup'), { first: 1, chunk: 3 })
    const options = ['--assume-empty-base', '--to', '1']
    expect(ingest(at('backup'), 'store', ...options)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /record 0 \(version 1\): the source does not tell the id of its chain; name it with --chain-id/,
      ),
    })
    expect(ingest(at('backup'), 'store', ...options, '--chain-id', '7').status).toBe(0)
    expect(info('store').chain_id).toBe(7)
    expect(ingest(at('backup'), 'store')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/the source is of chain 42, the store holds chain 7/),
    })
  })
})

describe('an ingest that is killed', () => {
  async function killRepeatedly(source: string, store: string, longestMs: number, options: string[] = []) {
    for (let kill = 0; kill < KILLS; kill++) {
      const { child, ended } = start('ingest', source, '--data-dir', at(store), ...options)
      await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * longestMs))
      child.kill('SIGKILL')
      await ended
    }
    const last = ingest(source, store, ...options)
    expect([last.status, last.stderr]).toEqual([0, expect.stringMatching(/ingested/)])
  }

  it('goes on with a backup where the last durable batch ended', LONG, async () => {
    const long = new SyntheticChain({ blocks: 250 })
    writeBackup(long, at('backup'), { chunk: 40 })
    ingest(at('backup'), 'whole')
    await killRepeatedly(at('backup'), 'store', 400, ['--to', String(long.latestVersion)])
    expect(digest('store')).toBe(digest('whole'))
  })

  it('goes on with a state, too', LONG, async () => {
    const snapshot = writeBackup(chain, at('backup'), { snapshot: { version: SNAPSHOT, chunk: 3 } })
    ingest(snapshot, 'whole')
    await killRepeatedly(snapshot, 'store', 250)
    expect(digest('store')).toBe(digest('whole'))
  })

  it.skipIf(!hasSharedData)('goes on with the backup of a real chain, with the same outcome', LONG, async () => {
    const options = ['--assume-empty-base', '--hash-salt', 'DIEM::']
    ingest(sharedPath('data/backup'), 'whole', ...options)
    await killRepeatedly(sharedPath('data/backup'), 'store', 1_300, options)
    expect(info('store')).toMatchObject({ ledger_version: '20000', block_height: '9408' })
    expect(digest('store')).toBe(digest('whole'))
  })
})

describe('a node', () => {
  it('is ingested up to its newest version, then followed, and stopped with all durable', async () => {
    node = await startStandInNode(chain)
    node.latest = 60
    expect(await start('ingest', node.url, '--data-dir', at('store')).ended).toBe(0)
    expect(info('store').ledger_version).toBe('60')
    const follower = start('ingest', node.url, '--data-dir', at('store'), '--follow')
    for (const latest of [61, 90, LAST]) {
      node.latest = latest
      await follower.until(() => info('store').ledger_version === String(latest))
    }
    follower.child.kill('SIGTERM')
    expect(await follower.ended).toBe(0)
    writeBackup(chain, at('backup'))
    ingest(at('backup'), 'whole')
    expect(digest('store')).toBe(digest('whole'))
  }, 60_000)

  it('takes over where a backup ended, and is refused where it is on a fork', async () => {
    writeBackup(chain, at('backup'))
    ingest(at('backup'), 'store', '--to', '70')
    node = await startStandInNode(new SyntheticChain({ blocks: 60, seed: 3 }))
    const refused = start('ingest', node.url, '--data-dir', at('store'))
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toMatch(/fork/)
    expect(info('store').ledger_version).toBe('70')
    node.chain = chain
    node.latest = LAST
    expect(await start('ingest', node.url, '--data-dir', at('store')).ended).toBe(0)
    expect(info('store').ledger_version).toBe(String(LAST))
  })

  it('is followed while the store is served, and left when it is on a fork', async () => {
    node = await startStandInNode(chain)
    node.latest = 40
    writeFileSync(at('genesis.blob'), chain.genesisBlob)
    ingest(at('genesis.blob'), 'store')
    const served = await new NodeProcess({ dataDir: at('store'), options: ['--follow', node.url] }).listening()
    running.push(served.child)
    await eventually(
      async () => (await served.version()) === 40,
      () => served.output,
    )
    node.latest = 80
    await eventually(
      async () => (await served.version()) === 80,
      () => served.output,
    )
    node.chain = new SyntheticChain({ blocks: 60, seed: 4 })
    node.latest = LAST
    await served.outputMatching(/"code":"ledger_fork".*writer gives up: /)
    expect(await served.version()).toBeGreaterThanOrEqual(80)
    expect(await served.metrics()).toMatch(/process_state\{process="writer",state="given-up"\} 1/)
    expect(await served.stop()).toBe(0)
  }, 60_000)
})

describe('export', () => {
  it.each(['feed.ndjson', 'feed.ndjson.gz', 'feed.ndjson.zst'])('writes %s, which ingest reads', (name) => {
    writeBackup(chain, at('backup'))
    ingest(at('backup'), 'whole', '--retain', '100')
    const { status, stderr } = run('export', at(name), '--data-dir', at('whole'), '--format', 'feed')
    expect([status, stderr]).toEqual([
      0,
      expect.stringMatching(/holds the state at version \d+ \(\d+ entries\) and \d+ versions/),
    ])
    expect(ingest(at(name), 'copy').status).toBe(0)
    expect(run('ingest', at(name), '--dry-run').stderr).toMatch(/^read, with nothing proven: a state of/)
    expect(digest('copy')).toBe(digest('whole'))
    expect(existsSync(at(`${name}.unfinished`))).toBe(false)
  })

  it.each([
    [['--format', 'csv'], 2, /feed is the only format/],
    [['--from', '50', '--to', '40'], 2, /--from 50 is behind --to 40/],
    [['--to', '9999'], 1, /Ledger version not found/],
  ])('refuses %j', (options, status, message) => {
    writeBackup(chain, at('backup'))
    ingest(at('backup'), 'store')
    expect(run('export', at('x'), '--data-dir', at('store'), ...options)).toMatchObject({
      status,
      stderr: expect.stringMatching(message),
    })
    expect([existsSync(at('x')), existsSync(at('x.unfinished'))]).toEqual([false, false])
  })
})
