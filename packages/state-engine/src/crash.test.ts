import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { differences, KNOWN_CHAIN, knownVersion } from '../testing/known-ledger.ts'
import { STORE_FILE } from './lmdb/lmdb-store.js'
import { openStateEngine, openStateEngineReader } from './open-state-engine.js'
import type { FailurePoint } from './write/failure-points.js'

let path: string
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'engine-crash-'))
})
afterEach(() => {
  rmSync(path, { recursive: true, force: true })
})

const LONG = { timeout: 300_000 }
const CRASHES = process.env.CI ? 200 : 30

/** Runs the writer until it is gone; the versions that it acknowledged. */
async function runWriter(args: readonly string[], killAfterMs?: number): Promise<bigint | undefined> {
  const script = fileURLToPath(new URL('../testing/crash-writer.ts', import.meta.url))
  const child: ChildProcess = spawn(process.execPath, [...SOURCE_OPTIONS, script, path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout!.on('data', (chunk) => {
    if (output === '' && killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    output += chunk
  })
  await once(child, 'close')
  expect(child.signalCode).toBe('SIGKILL')
  const last = output.split('\n').at(-2)
  return last === undefined ? undefined : BigInt(last)
}

/** Whole batches only, all of what was acknowledged, every value right, every invariant held. */
async function expectSound(acknowledged: bigint | undefined): Promise<void> {
  const engine = openStateEngine({ path })
  try {
    expect((await engine.check()).problems).toEqual([])
    const { ledger } = engine
    if (acknowledged !== undefined) expect(ledger?.latestVersion).toBeGreaterThanOrEqual(acknowledged)
    if (!ledger) return
    expect((ledger.latestVersion + 1n) % 10n).toBe(0n)
    const span = ledger.latestVersion - ledger.oldestVersion
    for (const share of [0n, 1n, 2n, 3n, 4n]) {
      expect(differences(engine.at(ledger.oldestVersion + (span * share) / 4n))).toEqual([])
    }
  } finally {
    await engine.close()
  }
}

describe('a writer killed with SIGKILL', () => {
  it('loses nothing that was acknowledged and leaves no batch torn, at any moment', LONG, async () => {
    for (let crash = 0; crash < CRASHES / 2; crash++) {
      await expectSound(await runWriter([], Math.random() * 60))
    }
  })

  const points: readonly FailurePoint[] = [
    'commit: began',
    'commit: log written',
    'commit: latest written',
    'commit: before the transaction ends',
    'commit: done',
    'prune: floor raised',
    'prune: step before the transaction ends',
    'prune: step done',
  ]
  for (const point of points) {
    it(`at the failure point ‘${point}’`, LONG, async () => {
      for (let crash = 0; crash < CRASHES / 20; crash++) {
        await expectSound(await runWriter([point, String(1 + Math.floor(Math.random() * 8))]))
      }
    })
  }

  for (const [point, times, kept] of [
    ['import: part done', 1, 0],
    ['import: part done', 3, 10_000],
    ['import: before it counts', 1, 12_000],
  ] as const) {
    it(`at the failure point ‘${point}’, the ${times}. time, leaves an empty store and whole parts`, LONG, async () => {
      for (let crash = 0; crash < CRASHES / 30; crash++) {
        await runWriter([point, String(times)])
        const reader = openStateEngineReader({ path })
        expect(reader.ledger).toBeUndefined()
        await reader.close()
        const engine = openStateEngine({ path })
        expect(engine.ledger).toBeUndefined()
        expect((await engine.check()).problems).toEqual([])
        expect(await engine.beginImport(0n, { resume: true })).toMatchObject({ entryCount: kept })
        expect(await engine.beginImport(0n)).toMatchObject({ entryCount: 0 })
        expect(engine.stats).toMatchObject({ keys: 0, payloadBytes: 0 })
        await engine.close()
      }
    })
  }
})

describe('a loss of power', () => {
  const PAGE = 4_096
  const SECTOR = 512

  /** The data file before and after one commit, of a store that has some history. */
  async function twoStates(): Promise<{ before: Buffer; after: Buffer }> {
    const file = join(path, STORE_FILE)
    const engine = openStateEngine({ path })
    for (let version = 0n; version < 400n; ) {
      await engine.commit(
        Array.from({ length: 10 }, () => knownVersion(version++)),
        KNOWN_CHAIN,
      )
      if (version % 50n === 0n) await engine.prune(60n)
    }
    const before = readFileSync(file)
    await engine.commit(
      Array.from({ length: 10 }, (_, at) => knownVersion(400n + BigInt(at))),
      KNOWN_CHAIN,
    )
    const after = readFileSync(file)
    await engine.close()
    return { before, after }
  }

  function changedPages(before: Buffer, after: Buffer): number[] {
    const pages: number[] = []
    for (let page = 0; page * PAGE < after.length; page++) {
      const at = page * PAGE
      if (!before.subarray(at, at + PAGE).equals(after.subarray(at, at + PAGE))) pages.push(page)
    }
    return pages
  }

  /** `fsync` keeps the order that a commit needs: all pages, and only then the meta page, of which there are two. */
  it('before the meta page is written leaves the state before, whichever pages had come to the disk', async () => {
    const { before, after } = await twoStates()
    const pages = changedPages(before, after).filter((page) => page > 1)
    expect(pages.length).toBeGreaterThan(5)
    for (let round = 0; round < (process.env.CI ? 60 : 15); round++) {
      const torn = Buffer.alloc(after.length)
      before.copy(torn)
      for (const page of pages) {
        if (Math.random() < 0.5) continue
        // Some pages only in part.
        const sectors = Math.random() < 0.3 ? Math.floor(Math.random() * 8) : PAGE / SECTOR
        after.copy(torn, page * PAGE, page * PAGE, page * PAGE + sectors * SECTOR)
      }
      await expectState(torn, 399n)
    }
  })

  it('while the meta page is written leaves the state before or the state after', async () => {
    const { before, after } = await twoStates()
    const [meta, ...others] = changedPages(before, after).filter((page) => page <= 1)
    expect(others).toEqual([])
    for (let sectors = 0; sectors <= PAGE / SECTOR; sectors++) {
      const torn = Buffer.from(after)
      before.copy(torn, meta! * PAGE, meta! * PAGE, (meta! + 1) * PAGE)
      after.copy(torn, meta! * PAGE, meta! * PAGE, meta! * PAGE + sectors * SECTOR)
      await expectState(torn, sectors === 0 ? 399n : 409n)
    }
  })

  async function expectState(content: Buffer, latestVersion: bigint): Promise<void> {
    // A store of its own: LMDB keeps a file open that it once opened.
    const folder = mkdtempSync(join(tmpdir(), 'engine-torn-'))
    try {
      writeFileSync(join(folder, STORE_FILE), content)
      const engine = openStateEngine({ path: folder })
      expect(engine.ledger?.latestVersion).toBe(latestVersion)
      expect((await engine.check()).problems).toEqual([])
      const { oldestVersion } = engine.ledger!
      for (const version of [oldestVersion, oldestVersion + 7n, latestVersion]) {
        expect(differences(engine.at(version))).toEqual([])
      }
      await engine.commit([knownVersion(latestVersion + 1n)], KNOWN_CHAIN)
      await engine.close()
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
})

describe('two reader processes under a writer and a pruner', () => {
  it('answer right every time, and see nothing torn', LONG, async () => {
    const seconds = Number(process.env.ENGINE_READER_SECONDS ?? (process.env.CI ? 20 : 3))
    const engine = openStateEngine({ path, durability: 'none' })
    let version = 0n
    const commit = () =>
      engine.commit(
        Array.from({ length: 10 }, () => knownVersion(version++)),
        KNOWN_CHAIN,
      )
    await commit()
    const script = fileURLToPath(new URL('../testing/checking-reader.ts', import.meta.url))
    const startReader = () => fork(script, [path], { execArgv: [...SOURCE_OPTIONS] })
    const readers = [startReader(), startReader()]
    const results = readers.map((reader) => once(reader, 'message'))
    const until = performance.now() + seconds * 1_000
    while (performance.now() < until) {
      await commit()
      if (version % 30n === 0n) await engine.prune(BigInt(20 + Math.floor(Math.random() * 700)))
      if (version % 200n === 0n) await new Promise((resolve) => setTimeout(resolve, 1))
    }
    for (const reader of readers) reader.send('stop')
    for (const result of results) {
      const [report] = (await result) as [{ reads: number; seen: number; problems: string[] }]
      expect(report.problems).toEqual([])
      expect(report.reads).toBeGreaterThan(100)
      expect(report.seen).toBeGreaterThan(0)
    }
    expect((await engine.check()).problems).toEqual([])
    await engine.close()
  })
})
