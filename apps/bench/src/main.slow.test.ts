// Runs suites, a sample of them (`TEST_SCALE=10` runs all), at a scale that takes seconds. It checks that results are
// complete and stores agree, not how fast they are.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testSeed } from '@ledger-state/testing/random'
import { sampleCases } from '@ledger-state/testing/sample-cases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BenchResult, readResult } from './run/result-file.ts'
import { SUITES } from './suites/all-suites.ts'

const program = fileURLToPath(new URL('./main.ts', import.meta.url))

/** Time that one run may take on a loaded machine. */
const PATIENCE_MS = 1_200_000

/** Seed of the writes and questions, and of the choice of hostile clients. */
const seed = String(1 + (testSeed() % 1_000))

const NAMES = SUITES.map(({ name }) => name)
/** Suites whose figures tests ask for. */
const ALWAYS_RUN = ['lookup', 'http', 'codec']
const OTHERS = NAMES.filter((name) => !ALWAYS_RUN.includes(name))
const TRIED_OTHERS = sampleCases(OTHERS, 2)
const TRIED = NAMES.filter((name) => ALWAYS_RUN.includes(name) || TRIED_OTHERS.includes(name))

let folder: string
let result: BenchResult
let outcome: ReturnType<typeof run>

function run(...words: string[]) {
  // Work folders are made in a folder of this test, so that it can see whether they are removed.
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: folder },
  })
  return { status, stdout, stderr }
}

/** Sends SIGINT when the program prints `text`. Resolves with its exit status. */
async function interruptAt(text: string, ...words: string[]): Promise<number> {
  const child = spawn(process.execPath, [program, ...words], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
    if (said.includes(text) && !child.killed) child.kill('SIGINT')
  })
  return (await ended)[0]
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-'))
  // PostgreSQL runs as another user if this runs as root.
  chmodSync(folder, 0o755)
  outcome = run(
    ...TRIED,
    '--scale',
    'tiny',
    '--seed',
    seed,
    '--out',
    join(folder, 'out'),
    '--stores',
    join(folder, 'stores'),
  )
  if (outcome.status === 0) result = readResult(join(folder, 'out/result.json'))
}, PATIENCE_MS)
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

const workFolders = () => readdirSync(folder).filter((name) => name.startsWith('ledger-state-bench-'))

describe(`a run of ${TRIED.join(', ')} (TEST_SEED=${testSeed()})`, () => {
  it('succeeds, prints its estimates, and removes its work folder', () => {
    expect(outcome.stderr).toMatch(/scale tiny: up to +time +memory +disk/)
    expect(outcome.status, outcome.stderr).toBe(0)
    expect(workFolders()).toEqual([])
  })

  it('has figures of every suite, each with its rounds', () => {
    expect(result.suites).toEqual(TRIED)
    const isLeftOut = (suite: string) => result.notes.some((note) => note.startsWith(`${suite}: left out`))
    for (const name of TRIED) {
      const measures = result.measures.filter(({ suite }) => suite === name)
      if (isLeftOut(name)) continue
      const roles = new Set(measures.map(({ role }) => role))
      expect(measures.length, name).toBeGreaterThan(2)
      expect(roles, name).toContain('ours')
      expect(roles, name).toContain('floor')
    }
    for (const { rounds, title, subject, metric } of result.measures) {
      expect(rounds.length, title).toBeGreaterThan(0)
      for (const round of rounds) expect(Number.isFinite(round), `${title}, ${subject}, ${metric}`).toBe(true)
    }
    expect(result.machine).toMatchObject({ cores: expect.any(Number), versions: { lmdb: expect.any(String) } })
  })

  it('has every peer, or a note why it is left out', () => {
    const subjects = new Set(result.measures.map(({ subject }) => subject))
    for (const peer of ['RocksDB', 'LevelDB', 'SQLite', 'PostgreSQL', 'JavaScript Map']) {
      const isThere = [...subjects].some((subject) => subject.includes(peer))
      expect(isThere || result.notes.some((note) => note.includes(`${peer} is left out`)), peer).toBe(true)
    }
  })

  it('has the aims of requests compared with servers that read nothing', () => {
    const aims = result.measures.filter(({ suite, metric }) => suite === 'http' && metric === 'aim')
    expect(aims.map(({ subject, rounds }) => [subject, ...rounds])).toEqual([
      ['GET balance, of fastify answering a constant', 80],
      ['GET balance, of node:http answering a constant', 75],
      ['POST item, of fastify answering a constant', 80],
      ['POST item, of node:http answering a constant', 65],
    ])
  })

  it('prints each table', () => {
    for (const { suite, title, plotOnly } of result.measures) {
      if (!plotOnly) expect(outcome.stdout).toContain(`${suite}: ${title}`)
    }
  })

  it('writes plots and one page', () => {
    const plots = readdirSync(join(folder, 'out')).filter((name) => name.endsWith('.svg'))
    expect(plots.length).toBeGreaterThan(7)
    const page = readFileSync(join(folder, 'out/report.html'), 'utf8')
    expect(page.match(/<svg class="light"/g)!.length).toBe(plots.length)
    const again = run('--report', join(folder, 'out/result.json'), '--out', join(folder, 'again'))
    expect(again.status).toBe(0)
    expect(readFileSync(join(folder, 'again/report.html'), 'utf8')).toBe(page)
  })

  it('writes the measurements made before a suite failed', { timeout: PATIENCE_MS }, () => {
    const [source, out] = [join(folder, 'damaged'), join(folder, 'failed')]
    mkdirSync(source)
    writeFileSync(join(source, 'transaction.manifest'), '{')
    const { status, stderr } = run('codec', 'ingest', '--scale', 'tiny', '--source', source, '--out', out)
    expect([status, stderr]).toEqual([1, expect.stringContaining('transaction.manifest is not JSON text')])
    const { measures, notes } = readResult(join(out, 'result.json'))
    expect(measures.some(({ suite }) => suite === 'codec')).toBe(true)
    expect(notes).toContainEqual(expect.stringMatching(/^ingest: failed: /))
    expect(workFolders()).toEqual([])
  })

  it('can be compared with another run', { timeout: PATIENCE_MS }, () => {
    const old = join(folder, 'old.json')
    const measures = result.measures.map((one) => ({ ...one, rounds: one.rounds.map((round) => round * 1_000) }))
    writeFileSync(old, JSON.stringify({ ...result, measures }))
    const { status, stdout } = run('codec', '--scale', 'tiny', '--compare', old)
    expect(status).toBe(0)
    expect(stdout).toMatch(/codec: CoinStore: BCS to JSON, ours, time .* better/)
    const missing = run('codec', '--scale', 'tiny', '--compare', join(folder, 'absent'))
    expect(missing).toMatchObject({ status: 1, stderr: expect.stringMatching(/cannot read .*absent/) })
  })
})

describe('stores that are kept', () => {
  it('are used again, except those that are incomplete', { timeout: PATIENCE_MS }, () => {
    const stores = join(folder, 'stores')
    const [size] = readdirSync(stores)
    const store = (name: string) => join(stores, size!, name)
    rmSync(join(store('engine'), 'filled.json'))
    writeFileSync(join(store('sqlite'), 'state.sqlite'), 'no database')
    const peers = ['--peers', 'sqlite,seek-lmdb']
    const again = run(
      'lookup',
      '--scale',
      'tiny',
      '--seed',
      seed,
      ...peers,
      '--stores',
      stores,
      '--out',
      join(folder, 'again'),
    )
    expect(again.status, again.stderr).toBe(0)
    const filled = [...again.stderr.matchAll(/writing \S+ writes into ([^:\n]*)\n/g)].map(([, name]) => name)
    expect(filled).toEqual(['engine', 'SQLite', 'JavaScript Map'])
    expect(again.stderr).toMatch(/uses the stores that were filled 20\S+, and their times/)
    const filling = ({ measures }: BenchResult, of: string) =>
      measures.find(({ subject, metric }) => subject === of && metric === 'time of a write')!.rounds
    const second = readResult(join(folder, 'again/result.json'))
    expect(filling(second, 'key ++ version on lmdb')).toEqual(filling(result, 'key ++ version on lmdb'))
    expect(filling(second, 'engine')).not.toEqual(filling(result, 'engine'))
    const words = ['--stores', stores, '--keys', '1000', '--seed', '1001', '--peers', 'sqlite']
    const other = run('lookup', '--scale', 'tiny', ...words)
    expect(other.stderr).not.toMatch(/uses the stores/)
    expect(readdirSync(join(stores, 'keys-1000-seed-1001')).sort()).toEqual(['engine', 'plain', 'sqlite'])
    expect(readdirSync(stores).sort()).toEqual(['keys-1000-seed-1001', `keys-2000-seed-${seed}`])
  })
})

describe('the command line', () => {
  it('prints help and estimates, and refuses unknown arguments', () => {
    expect(run('--help').stdout).toContain('Usage: pnpm bench')
    expect(run('--list', '--scale', 'large').stdout).toMatch(/lookup +150 min/)
    expect(run('nonsense')).toMatchObject({ status: 2, stderr: expect.stringMatching(/unknown suite "nonsense"/) })
  })

  it('cleans up when it is interrupted', { timeout: PATIENCE_MS }, async () => {
    expect(await interruptAt('writes into', 'lookup', '--scale', 'small')).toBe(130)
    expect(workFolders()).toEqual([])
  })

  it('can be interrupted while it fills a store whose calls are synchronous', { timeout: PATIENCE_MS }, async () => {
    const words = ['lookup', '--scale', 'tiny', '--keys', '10000', '--peers', '', '--stores', join(folder, 'cut')]
    expect(run(...words).status).toBe(0)
    const filled = join(folder, 'cut/keys-10000-seed-1/plain/filled.json')
    rmSync(filled)
    expect(await interruptAt('writes into lmdb, newest values only', ...words)).toBe(130)
    expect(existsSync(filled)).toBe(false)
  })
})
