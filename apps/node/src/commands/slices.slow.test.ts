// The recipes of docs/slices.md, run on a feed of the demonstration ledger.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { demoFeed } from '../../testing/demo-feed.ts'
import { ACCOUNTS, PRICES } from '../demo/demo-addresses.js'
import { DEMO_WINDOW } from '../demo/demo-ledger.js'

const PAGE = readFileSync(fileURLToPath(new URL('../../../../docs/slices.md', import.meta.url)), 'utf8')

/** The recipes ask for version 1,500. */
const VERSIONS = 1_600n

/** Commands of the recipes on the page. */
const COMMANDS = [...PAGE.slice(PAGE.indexOf('## Three recipes')).matchAll(/^npx -y pnpm ledger-state (.*)$/gm)]
  .map(([, words]) => words!.split(' '))
  .filter(([command]) => command !== 'export')

describe('a slice', () => {
  const bed = new CommandBed()
  /** Output of each command of the page, by the command's line. */
  const outputs = new Map<string, string>()

  beforeAll(async () => {
    writeFileSync(bed.at('demo.ndjson'), await demoFeed(VERSIONS))
    writeFileSync(bed.at('wallets.txt'), `# the fund\n${ACCOUNTS.slice(0, 3).join('\n')}\n`)
    for (const words of COMMANDS) {
      const { status, stdout, stderr } = bed.run(...words)
      expect(stderr, words.join(' ')).not.toContain('error')
      expect(status, stderr).toBe(0)
      outputs.set(words.join(' '), stdout)
    }
    expect(bed.run('ingest', 'demo.ndjson', '--data-dir', 'data/whole').status).toBe(0)
  }, 600_000)
  afterAll(() => bed.close())

  it('gives the answers of the whole ledger, in each recipe', () => {
    const reads = COMMANDS.filter(([command]) => command !== 'ingest')
    expect(reads.length).toBe(3)
    for (const words of reads) {
      const whole = words.map((word) => (word.startsWith('data/') ? 'data/whole' : word))
      const { status, stdout } = bed.run(...whole)
      expect(status).toBe(0)
      expect(stdout.length).toBeGreaterThan(0)
      expect(outputs.get(words.join(' '))).toBe(stdout)
    }
  })

  it('is made by the page as it is printed, from the demonstration that `start` leaves', async () => {
    const page = new CommandBed()
    try {
      await page.fillWithDemo('data/demo', { retain: DEMO_WINDOW })
      const [node, program] = page.commandLine()
      const blocks = [...PAGE.slice(PAGE.indexOf('## Three recipes')).matchAll(/^```sh\n(.*?)^```$/gms)]
      const lines = blocks
        .map(([, block]) => block)
        .join('')
        .replace('npx -y pnpm start\n', '')
      const script = `set -e\nnpx() { shift 3; '${node}' '${program}' "$@"; }\n${lines}`
      const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: page.folder, encoding: 'utf8' })
      expect([status, stderr]).toEqual([0, expect.stringContaining('ingested')])
      expect(stdout).toMatch(/^\["\d+"\]/)
    } finally {
      await page.close()
    }
  }, 120_000)

  it('of a snapshot that was cut short is not continued as a store of everything', () => {
    mkdirSync(bed.at('data/begun/snapshot-of-whole'), { recursive: true })
    for (const words of [
      ['ingest', 'demo.ndjson'],
      ['start', '--from', 'demo.ndjson'],
      ['serve', '--replica-of', 'http://127.0.0.1:1'],
      ['serve', '--follow', 'http://127.0.0.1:1'],
    ]) {
      expect(bed.run(...words, '--data-dir', 'data/begun')).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('the ingest of a slice of a snapshot into data/begun was interrupted: '),
      })
    }
    expect(readdirSync(bed.at('data/begun'))).toEqual(['snapshot-of-whole'])
  })

  it('keeps resources of a type at whatever address', () => {
    const harbour = '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour::Harbour'
    const { status, stderr } = bed.run('ingest', 'demo.ndjson', '--data-dir', 'data/type', '--only-type', harbour)
    expect(status, stderr).toBe(0)
    const read = (store: string, account: string) =>
      bed.run('get', 'resource', account, harbour, '--data-dir', `data/${store}`)
    expect(read('type', '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15')).toMatchObject({
      status: 0,
      stdout: read('whole', '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15').stdout,
    })
    // The slice lacks the module, so it cannot add that the type is right.
    const absent = '0xe1e5bed42c8a8bbb877da2f0cb4eaaad42c464b83d6a3a025033dae75c0e5383'
    const hint = `; the type is right, but ${absent} has no resource of it`
    const { stderr: ofWhole } = read('whole', absent)
    expect(ofWhole).toContain(hint)
    expect(read('type', absent)).toMatchObject({ status: 1, stderr: ofWhole.replace(hint, '') })
    const other = bed.run(
      'get',
      'account',
      '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
      '--data-dir',
      'data/type',
    )
    expect(other).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(
        'ingest with --only-account 0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab to keep it',
      ),
    })
  })

  it('says which data it does not know, with the option that would have kept it', () => {
    const { status, stderr } = bed.run('get', 'raw-item', PRICES, '0x01', '--data-dir', 'data/fund')
    expect(status).toBe(1)
    expect(stderr).toContain(`this store keeps only part of the ledger and does not have table ${PRICES}`)
    expect(stderr).toContain(`--only-table ${PRICES}`)
  })

  it('continues without the option, refuses another slice with the command that makes a wider one, and is described by info', () => {
    expect(bed.run('ingest', 'demo.ndjson', '--data-dir', 'data/fund')).toMatchObject({ status: 0 })
    const refused = bed.run(
      'ingest',
      'demo.ndjson',
      '--data-dir',
      'data/fund',
      '--only-account',
      '0xe1e5bed42c8a8bbb877da2f0cb4eaaad42c464b83d6a3a025033dae75c0e5383',
    )
    expect(refused.status).toBe(1)
    const all = [...ACCOUNTS.slice(0, 3), '0xe1e5bed42c8a8bbb877da2f0cb4eaaad42c464b83d6a3a025033dae75c0e5383'].map(
      (address) => `--only-account ${address}`,
    )
    for (const option of all) expect(refused.stderr).toContain(option)
    expect(refused.stderr).toContain('ledger-state ingest demo.ndjson --data-dir data/fund-wider ')
    const facts = JSON.parse(bed.run('info', '--json', '--data-dir', 'data/fund').stdout)
    expect(facts.slice).toMatchObject({ asked_accounts: 3, asked_tables: 0, types: [] })
    expect(facts.slice.left_out).toEqual({
      keys: 0,
      bytes: 0,
      writes: expect.any(Number),
      written_bytes: expect.any(Number),
    })
    expect(facts.slice.left_out.writes).toBeGreaterThan(0)
    expect(bed.run('info', '--data-dir', 'data/fund').stdout).toMatch(
      /^ *left out +[1-9][\d,]* writes \(.*B\) of transactions$/m,
    )
    expect(bed.run('info', '--slice', '--data-dir', 'data/fund').stdout.split('\n').sort()).toEqual(
      ['', ...ACCOUNTS.slice(0, 3)].sort(),
    )
    const members = bed.run('info', '--members', '--data-dir', 'data/fund').stdout
    expect(members).toMatch(
      /^account,0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab,asked,0,true,\d+,\d+$/m,
    )
    expect(bed.run('check', '--state-root', '--data-dir', 'data/fund')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('keeps only part of the ledger'),
    })
  })
})
