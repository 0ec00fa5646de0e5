import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, parse } from 'node:path'
import { inspect } from 'node:util'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { KNOWN_CHAIN, knownVersion } from '../../testing/known-ledger.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { neverFail } from '../failpoints/failpoints.js'
import { type LmdbStore, openLmdbStore } from '../lmdb/lmdb-store.js'
import type { Table } from '../lmdb/table.js'
import { openStateEngine, openStateEngineReader } from '../open-state-engine.js'
import { LEDGER_KEY } from '../records/ledger-record.js'
import { FILE_HEADER_LENGTH } from '../wal/file-header.js'
import { checkStore } from './check-store.js'

const SEED = testSeed()
const ROUNDS = isSlowRun ? 20 : 10
const random = createRandom(SEED)
const folder = temporaryFolder()

/** Newest version of the store. Its versions above 1,500 are not merged. */
const NEWEST = 1_505n
/** A store that every test copies. */
const template = mkdtempSync(join(tmpdir(), 'engine-check-'))

beforeAll(async () => {
  const engine = openStateEngine({ path: template, durability: 'none', memtableBytes: 0 })
  for (let version = 0n; version < 1_500n; ) {
    await engine.commit(
      Array.from({ length: 100 }, () => knownVersion(version++)),
      KNOWN_CHAIN,
    )
  }
  await engine.prune(1_200n)
  const long = new Uint8Array(4_000).fill(7)
  await engine.commit([{ ...knownVersion(1_500n), writes: [[long, long]] }], KNOWN_CHAIN)
  await engine.close()
  const other = openStateEngine({ path: template })
  for (let version = 1_501n; version <= NEWEST; ) await other.commit([knownVersion(version++)], KNOWN_CHAIN)
  await other.close()
})

afterAll(() => {
  rmSync(template, { recursive: true })
})

beforeEach(() => {
  cpSync(template, folder.path, { recursive: true })
})

function walFileOf(path: string): string {
  return join(path, readdirSync(path).findLast((name) => name.startsWith('write-ahead-'))!)
}

async function problems(): Promise<readonly string[]> {
  const engine = openStateEngineReader({ path: folder.path })
  try {
    return (await engine.check()).problems
  } finally {
    await engine.close()
  }
}

/** Changes the store without the engine. */
async function damage(work: (store: LmdbStore) => void): Promise<void> {
  const store = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none' })
  store.root.transactionSync(() => work(store))
  await store.root.close()
}

function records(store: LmdbStore) {
  const table = store.segments as Table<object>
  const all = [...table.getRange({ start: undefined, end: undefined })]
  return { table, all }
}

it('the check finds nothing in a sound store', async () => {
  expect(await problems()).toEqual([])
})

type Harm = (table: Table<object>, key: object, value: Buffer) => void

/** Damages random rows of segment files one after the other, expects a finding for each, and restores it. */
async function expectFound(rounds: number, harm: Harm): Promise<void> {
  const store = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none' })
  const { table, all } = records(store)
  for (let round = 0; round < rounds; round++) {
    const { key, value } = random.pick(all)
    store.root.transactionSync(() => harm(table, key, value))
    const { problems: found } = await checkStore(store, {}, { atFailpoint: neverFail, expectOpen: () => {} })
    expect(found, `${inspect(key)}, TEST_SEED=${SEED}`).not.toEqual([])
    store.root.transactionSync(() => table.putSync(key, value))
  }
  expect((await checkStore(store, {}, { atFailpoint: neverFail, expectOpen: () => {} })).problems).toEqual([])
  await store.root.close()
}

describe(`the check of the rows of segment files (TEST_SEED=${SEED})`, () => {
  it('finds a flipped bit, wherever it is', async () => {
    await expectFound(isSlowRun ? 6 : 2, (table, key, value) => {
      const damaged = Buffer.from(value)
      damaged[random.below(damaged.length)]! ^= 1 << random.below(8)
      table.putSync(key, damaged)
    })
  })

  it('finds a record that is gone', async () => {
    await expectFound(isSlowRun ? 4 : 2, (table, key) => table.removeSync(key))
  })

  it('finds a record in the place of another', async () => {
    await expectFound(1, (table, key, value) => {
      const other = [...table.getRange({ start: undefined, end: undefined })].find((one) => !one.value.equals(value))!
      table.putSync(key, other.value)
    })
  })

  it('finds a record that is cut short', async () => {
    await expectFound(isSlowRun ? 3 : 1, (table, key, value) =>
      table.putSync(key, value.subarray(0, random.below(value.length))),
    )
  })
})

it('the check finds a damaged or missing ledger record', async () => {
  let ledger: Buffer | undefined
  await damage(({ meta }) => {
    ledger = Buffer.from(meta.getBinary(LEDGER_KEY)!)
    meta.removeSync(LEDGER_KEY)
  })
  expect(await problems()).not.toEqual([])
  for (let at = 0; at < ledger!.length; at += 11) {
    const damaged = Buffer.from(ledger!)
    damaged[at]! ^= 1
    await damage(({ meta }) => meta.putSync(LEDGER_KEY, damaged))
    const corrupt = expect.objectContaining({ code: 'store_corrupt' })
    expect(() => openStateEngine({ path: folder.path })).toThrow(corrupt)
    const reader = openStateEngineReader({ path: folder.path })
    expect(() => reader.ledger).toThrow(corrupt)
    await reader.close()
    expect(await problems()).not.toEqual([])
  }
})

describe(`the check of a WAL file (TEST_SEED=${SEED})`, () => {
  const file = () => walFileOf(folder.path)

  it('finds a flipped bit of a closed store', async () => {
    const sound = readFileSync(file())
    for (let round = 0; round < ROUNDS; round++) {
      const damaged = Buffer.from(sound)
      damaged[FILE_HEADER_LENGTH + random.below(sound.length - FILE_HEADER_LENGTH)]! ^= 1 << random.below(8)
      writeFileSync(file(), damaged)
      expect(await problems()).toEqual([expect.stringMatching(/write-ahead-\d+ at byte \d+: /)])
    }
  })

  it('finds no fault in an end that was not synced, and says how much of it cannot be read', async () => {
    // The file ends as if a process had been killed while it appended.
    const killed = mkdtempSync(join(tmpdir(), 'engine-killed-'))
    const engine = openStateEngine({ path: folder.path })
    const next = NEWEST + 1n
    for (const version of [next, next + 1n]) await engine.commit([knownVersion(version)], KNOWN_CHAIN)
    cpSync(folder.path, killed, { recursive: true })
    await engine.close()
    const torn = walFileOf(killed)
    truncateSync(torn, statSync(torn).size - 10)
    const reader = openStateEngineReader({ path: killed })
    const report = await reader.check()
    expect(report).toMatchObject({ problems: [], unmergedCommits: 6, lastVersion: next })
    expect(report.firstVersion).toBe(reader.ledger!.oldestVersion)
    expect(report.unreadableBytes).toBeGreaterThan(0)
    expect(reader.ledger?.latestVersion).toBe(next)
    await reader.close()
    rmSync(killed, { recursive: true })
  })

  it('says how many commits are missing at the end of a closed store, and how many bytes cannot be read', async () => {
    truncateSync(file(), statSync(file()).size - 10)
    const reader = openStateEngineReader({ path: folder.path })
    const report = await reader.check()
    expect(report.problems).toEqual([expect.stringMatching(/commit \d+ is missing or damaged/)])
    expect(report).toMatchObject({ unmergedCommits: 4, lastVersion: NEWEST - 1n })
    expect(report.unreadableBytes).toBeGreaterThan(0)
    await reader.close()
  })

  it('finds that it is gone, or of another store', async () => {
    const otherPath = join(folder.path, 'other')
    const other = openStateEngine({ path: otherPath })
    for (let version = 0n; version < 3n; ) await other.commit([knownVersion(version++)], KNOWN_CHAIN)
    await other.close()
    const { base } = parse(file())
    rmSync(file())
    expect(await problems()).toEqual([expect.stringMatching(/write-ahead-\d+, or one that follows it, is missing/)])
    cpSync(join(otherPath, 'write-ahead-1'), join(folder.path, base))
    expect(await problems()).toEqual([expect.stringMatching(/belongs to another store/)])
  })
})
