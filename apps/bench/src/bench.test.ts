// Every suite at a scale that takes seconds: that results are complete and engines agree, not how fast they are.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { toFigure } from '@ledger-state/report/measure'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BenchResult, readResult } from './run/result-file.ts'
import { SUITES } from './suites/all-suites.ts'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)
if (!CHROMIUM) console.warn('the report is not looked at in a browser: there is no chromium')

let folder: string
let result: BenchResult
let outcome: ReturnType<typeof run>

function run(...words: string[]) {
  // Work folders are made in a place of their own, so that it shows whether they are gone.
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: folder },
  })
  return { status, stdout, stderr }
}

/** Sends SIGINT when it says this; its exit status. */
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
  // PostgreSQL runs as a user of its own where this is root.
  chmodSync(folder, 0o755)
  outcome = run('--scale', 'tiny', '--out', join(folder, 'out'), '--stores', join(folder, 'stores'))
  if (outcome.status === 0) result = readResult(join(folder, 'out/result.json'))
}, 240_000)
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

const workFolders = () => readdirSync(folder).filter((name) => name.startsWith('ledger-state-bench-'))

describe('a run of all suites', () => {
  it('ends well, says what it takes, and leaves nothing behind', () => {
    expect(outcome.stderr).toMatch(/scale tiny: up to +time +memory +disk/)
    expect(outcome.status, outcome.stderr).toBe(0)
    expect(workFolders()).toEqual([])
  })

  it('has figures of every suite, each with its rounds', () => {
    expect(result.suites).toEqual(SUITES.map(({ name }) => name))
    const isLeftOut = (suite: string) => result.notes.some((note) => note.startsWith(`${suite}: left out`))
    for (const { name } of SUITES) {
      const measures = result.measures.filter(({ suite }) => suite === name)
      if (isLeftOut(name)) continue
      expect(measures.length, name).toBeGreaterThan(2)
      expect(
        measures.some(({ role }) => role === 'ours'),
        name,
      ).toBe(true)
      expect(
        measures.some(({ role }) => role === 'floor'),
        name,
      ).toBe(true)
    }
    for (const measure of result.measures) {
      expect(measure.rounds.length, measure.title).toBeGreaterThan(0)
      for (const round of measure.rounds)
        expect(Number.isFinite(round), `${measure.title}, ${measure.subject}, ${measure.metric}`).toBe(true)
    }
    expect(result.machine).toMatchObject({ cores: expect.any(Number), versions: { lmdb: expect.any(String) } })
  })

  it('has every peer beside ours, or says why it is not there', () => {
    const subjects = new Set(result.measures.map(({ subject }) => subject))
    for (const peer of ['RocksDB', 'LevelDB', 'SQLite', 'PostgreSQL', 'JavaScript Map']) {
      const isThere = [...subjects].some((subject) => subject.includes(peer))
      expect(isThere || result.notes.some((note) => note.includes(`${peer} is left out`)), peer).toBe(true)
    }
  })

  it('prints each table', () => {
    for (const { suite, title, plotOnly } of result.measures) {
      if (!plotOnly) expect(outcome.stdout).toContain(`${suite}: ${title}`)
    }
  })

  it('is compared with another', () => {
    const old = join(folder, 'old.json')
    const slower = result.measures.map((measure) => ({
      ...measure,
      rounds: measure.rounds.map((round) => round * 1000),
    }))
    writeFileSync(old, JSON.stringify({ ...result, measures: slower }))
    const { status, stdout } = run('codec', '--scale', 'tiny', '--compare', old)
    expect(status).toBe(0)
    expect(stdout).toMatch(/codec: CoinStore: BCS to JSON, ours, time .* better/)
    expect(run('codec', '--scale', 'tiny', '--compare', join(folder, 'absent')).stderr).toMatch(/absent cannot be read/)
  })

  it('draws plots for light and dark, in a page that needs nothing else', { timeout: 60_000 }, () => {
    const page = readFileSync(join(folder, 'out/report.html'), 'utf8')
    const light = page.match(/<svg class="light"/g)!.length
    expect(light).toBeGreaterThan(8)
    expect(page.match(/<svg class="dark"/g)!.length).toBe(light)
    expect(readdirSync(join(folder, 'out')).filter((name) => name.endsWith('.svg')).length).toBe(light)
    const again = run('--report', join(folder, 'out/result.json'), '--out', join(folder, 'again'))
    expect(again.status).toBe(0)
    expect(readFileSync(join(folder, 'again/report.html'), 'utf8')).toBe(page)
    expect(page).not.toMatch(/<script|(src|href)="(?!#)/)
  })

  it.skipIf(!CHROMIUM)('is legible in a browser, light, dark and on paper', { timeout: 60_000 }, async () => {
    const browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox'] })
    try {
      for (const [colorScheme, media, shown, hidden] of [
        ['light', 'screen', 'light', 'dark'],
        ['dark', 'screen', 'dark', 'light'],
        ['dark', 'print', 'light', 'dark'],
      ] as const) {
        const page = await browser.newPage({ colorScheme, offline: true, viewport: { width: 900, height: 900 } })
        const complaints: string[] = []
        page.on('pageerror', (error) => complaints.push(String(error)))
        page.on('console', (message) => complaints.push(message.text()))
        await page.emulateMedia({ media, colorScheme })
        await page.goto(pathToFileURL(join(folder, 'out/report.html')).href)
        expect(await page.locator(`svg.${shown}`).first().isVisible()).toBe(true)
        expect(await page.locator(`svg.${hidden}`).first().isVisible()).toBe(false)
        const plots = await page
          .locator(`svg.${shown}`)
          .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width))
        for (const width of plots) expect(width).toBeGreaterThan(200)
        const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
        expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0)
        expect(complaints).toEqual([])
        await page.close()
      }
    } finally {
      await browser.close()
    }
  })
})

describe('stores that are kept', () => {
  it('are used again, but for those that are not whole', { timeout: 120_000 }, () => {
    const stores = join(folder, 'stores')
    const [size] = readdirSync(stores)
    const store = (name: string) => join(stores, size!, name)
    rmSync(join(store('engine'), 'filled.json'))
    writeFileSync(join(store('sqlite'), 'state.sqlite'), 'no database')
    const again = run('lookup', '--scale', 'tiny', '--stores', stores, '--out', join(folder, 'again'))
    expect(again.status, again.stderr).toBe(0)
    expect(again.stderr).toMatch(/writes into 3 stores: engine; SQLite; JavaScript Map/)
    expect(again.stderr).toMatch(/stores filled 20\S+ are used again/)
    const filling = ({ measures }: BenchResult, of: string) =>
      measures.find(({ subject, metric }) => subject === of && metric === 'time of a write')!.rounds
    const second = readResult(join(folder, 'again/result.json'))
    expect(filling(second, 'key ++ version on lmdb')).toEqual(filling(result, 'key ++ version on lmdb'))
    expect(filling(second, 'engine')).not.toEqual(filling(result, 'engine'))
    const words = ['--stores', stores, '--keys', '1000', '--seed', '2', '--peers', 'sqlite']
    const other = run('lookup', '--scale', 'tiny', ...words)
    expect(other.stderr).not.toMatch(/used again/)
    expect(readdirSync(join(stores, 'keys-1000-seed-2')).sort()).toEqual(['engine', 'plain', 'sqlite'])
    expect(readdirSync(stores).sort()).toEqual(['keys-1000-seed-2', 'keys-2000-seed-1'])
  })
})

describe('the command line', () => {
  it('lists, explains, and refuses what it does not know', () => {
    expect(run('--help').stdout).toContain('Usage: pnpm bench')
    expect(run('--list', '--scale', 'large').stderr).toMatch(/lookup +150 min/)
    expect(run('nonsense')).toMatchObject({ status: 2, stderr: expect.stringMatching(/unknown suite "nonsense"/) })
    expect(run('--scale', 'huge')).toMatchObject({ status: 2, stderr: expect.stringMatching(/unknown scale "huge"/) })
    expect(run('--nonsense').status).toBe(2)
    expect(run('--seed', '0')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/--seed needs a whole number/),
    })
    expect(run('--peers', 'sqlite,oracle')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/unknown peer "oracle", some of seek-lmdb, .*postgres are expected/),
    })
    expect(run('--keys', '10')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/--keys needs a whole number/),
    })
  })

  it('is interrupted, and cleans up', { timeout: 60_000 }, async () => {
    expect(await interruptAt('stores', 'lookup', '--scale', 'small')).toBe(130)
    expect(workFolders()).toEqual([])
  })

  it('is interrupted while a store is filled that never waits', { timeout: 60_000 }, async () => {
    const words = ['lookup', '--scale', 'tiny', '--keys', '10000', '--peers', '', '--stores', join(folder, 'cut')]
    expect(run(...words).status).toBe(0)
    const filled = join(folder, 'cut/keys-10000-seed-1/plain/filled.json')
    rmSync(filled)
    expect(await interruptAt('writes into 2 stores: lmdb, newest values only; JavaScript Map', ...words)).toBe(130)
    expect(existsSync(filled)).toBe(false)
  })
})

describe('toFigure', () => {
  it('has the median of the rounds, and how far they go apart', () => {
    expect(toFigure([5, 1, 9])).toEqual({ median: 5, least: 1, most: 9 })
  })
})
