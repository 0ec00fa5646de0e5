import { Buffer } from 'node:buffer'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { LedgerStateError } from '@ledger-state/core'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { changeByte } from '../../testing/page-damage.ts'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { RecordBuilder } from '../bytes/record.js'
import type { Failpoint } from '../failpoints/failpoints.js'
import { type LmdbStore, openLmdbStore } from '../lmdb/lmdb-store.js'
import { runTransaction } from '../lmdb/write-transaction.js'
import { openStateEngine, openWithFailpoints } from '../open-state-engine.js'
import { listSegmentRows } from '../records/segment-rows.js'
import { ENVELOPE_LENGTH } from '../segments/lmdb-envelope.js'
import { ObsoleteSegments } from '../segments/obsolete-segments.js'
import { listSegments, segmentPath } from '../segments/segment-names.js'
import { LevelMerger, type LevelParts } from './level-merger.js'
import { LevelWork } from './level-work.js'
import { mergeLevel, putMerged } from './merge-level.js'
import { SegmentNumbers } from './segment-numbers.js'
import { SharedProgress } from './shared-progress.js'
import { unsyncedFiles } from './write-segments.js'

const folder = temporaryFolder()
const FILES = 10
const VERSIONS = FILES + 1
const KEYS = 20
let store: LmdbStore

/** Makes files of level 0: one for the first two versions, as nothing below the window is to be merged, and one for each other. */
async function fill(path: string, keys: number, more = 0): Promise<void> {
  const never = (point: Failpoint) => {
    if (point === 'level: began') throw new Error('no merge here')
  }
  const engine = openWithFailpoints({ path, memtableBytes: 0, durability: 'none' }, never)
  const versionOf = (version: number) => {
    const writes = Array.from({ length: keys }, (_, at) => [bytes(`key ${at}`), valueAt(version, at)] as const)
    return record(version, [...writes], version)
  }
  const first = more > 0 ? VERSIONS : 2
  if (more === 0) await engine.commit([versionOf(0), versionOf(1)], CHAIN)
  for (let version = first; version < VERSIONS + more; version++) await engine.commit([versionOf(version)], CHAIN)
  await engine.close()
}

beforeEach(async () => {
  await fill(folder.path, KEYS)
  store = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none' })
})

afterEach(() => vi.unstubAllEnvs())

function valueAt(version: number, at: number): Uint8Array {
  return Buffer.alloc(200, `${version} ${at};`)
}

function mergerWith(parts: Partial<LevelParts> = {}): LevelMerger {
  return new LevelMerger({
    store,
    builder: new RecordBuilder(),
    numbers: new SegmentNumbers(store),
    obsolete: new ObsoleteSegments(store.path),
    atFailpoint: () => {},
    isPart: false,
    transact: async (work) => runTransaction(store.root, 'none', work),
    freeBytes: () => Number.POSITIVE_INFINITY,
    ...parts,
  })
}

function filesOfRows(): number[] {
  store.root.resetReadTxn()
  return listSegmentRows(store).map(({ file }) => file)
}

async function expectAllRight(): Promise<void> {
  await store.root.close()
  const engine = openStateEngine({ path: folder.path, durability: 'none' })
  for (let version = 0; version < VERSIONS; version++) {
    const found = [...engine.at(BigInt(version)).scan(new Uint8Array(0))]
    expect(found.length).toBe(KEYS)
    for (const { key, value } of found) {
      expect(Buffer.compare(value, valueAt(version, Number(Buffer.from(key).toString().slice(4))))).toBe(0)
    }
  }
  const sorted = Array.from({ length: KEYS }, (_, at) => `key ${at}`).toSorted()
  const listed = [...engine.versions(1n, BigInt(VERSIONS - 1))]
  expect(listed.map(({ version }) => Number(version))).toEqual(Array.from({ length: VERSIONS - 1 }, (_, at) => at + 1))
  for (const { writes } of listed) expect(writes.map(([key]) => Buffer.from(key).toString())).toEqual(sorted)
  expect((await engine.check()).problems).toEqual([])
  await engine.close()
}

it('merges a full level, and removes its files', async () => {
  expect(filesOfRows().length).toBe(FILES)
  await mergerWith().settled()
  expect(filesOfRows().length).toBe(1)
  expect(listSegments(folder.path)).toEqual(filesOfRows())
  await expectAllRight()
})

it('leaves everything as it is while the disk has no room, and merges once it has', async () => {
  let free = 0
  const merger = mergerWith({ freeBytes: () => free })
  await merger.settled()
  await merger.settledBelow()
  expect(filesOfRows().length).toBe(FILES)
  free = 2 ** 30
  await merger.settled()
  expect(filesOfRows().length).toBe(1)
  await expectAllRight()
})

it.each([1_000, 10_000])(
  'writes files of some %i bytes, divided by keys and by versions of one key',
  async (mostBytes) => {
    vi.stubEnv('LEDGER_STATE_SEGMENT_BYTES', String(mostBytes))
    await mergerWith().settled()
    const rows = listSegmentRows(store)
    expect(rows.length).toBeGreaterThan(3)
    for (const { firstVersion, until, level } of rows) {
      expect([firstVersion, until, level]).toEqual([0n, BigInt(VERSIONS - 1), 1])
    }
    expect(rows.reduce((sum, { writes }) => sum + writes, 0)).toBe(VERSIONS * KEYS)
    expect(listSegments(folder.path).toSorted((a, b) => a - b)).toEqual(filesOfRows())
    await expectAllRight()
  },
)

it('a merge that finds damage leaves everything as it is, and no other begins', async () => {
  const [damaged] = filesOfRows()
  const path = segmentPath(folder.path, damaged!)
  changeByte(path, ENVELOPE_LENGTH + 1_000, 1)
  const before = readdirSync(folder.path).toSorted()
  const points: Failpoint[] = []
  const merger = mergerWith({ atFailpoint: (point) => void points.push(point) })
  for (let time = 0; time < 3; time++) {
    await expect(merger.settled()).rejects.toThrow(/segment-\d+ at byte \d+: a block does not match its checksum/)
    await expect(merger.settledBelow()).rejects.toMatchObject({ code: 'store_corrupt' })
  }
  expect(points).toEqual(['level: began'])
  expect(filesOfRows().length).toBe(FILES)
  expect(readdirSync(folder.path).toSorted()).toEqual(before)
  changeByte(path, ENVELOPE_LENGTH + 1_000, 1)
  await expectAllRight()
})

it('a merge whose transaction fails, even if it is on disk, keeps the files that the store may name', async () => {
  const full = async () => {
    throw new LedgerStateError('store_full', 'the disk is full')
  }
  await mergerWith({ transact: full }).settled()
  expect(filesOfRows().length).toBe(FILES)
  const merger = mergerWith({
    transact: async (work) => {
      runTransaction(store.root, 'none', work)
      return await full()
    },
  })
  await merger.settled()
  expect(filesOfRows().length).toBe(1)
  const present = new Set(listSegments(folder.path))
  expect(filesOfRows().every((file) => present.has(file))).toBe(true)
  await expectAllRight()
})

it('a merge that is stopped leaves no file', async () => {
  const before = listSegments(folder.path).toSorted()
  let stopped: Promise<void> | undefined
  const merger: LevelMerger = mergerWith({
    atFailpoint: (point) => {
      if (point === 'level: began') stopped = merger.stop()
    },
  })
  await merger.settled()
  await stopped
  await merger.settledBelow()
  expect(filesOfRows().length).toBe(FILES)
  expect(listSegments(folder.path).toSorted()).toEqual(before)
  expect(readdirSync(folder.path).filter((name) => name.endsWith('.new'))).toEqual([])
  await expectAllRight()
})

it('a final level is patched, and compressed if that is wanted, and reads the same', async () => {
  const inputs = listSegmentRows(store)
  const sizes = (['none', 'deflate'] as const).map((codec, at) => {
    const merge = { inputs, level: 2, floor: undefined, file: 900 + at, codec }
    for (const steps = mergeLevel(unsyncedFiles(store), merge); ; ) {
      const { done, value } = steps.next()
      if (!done) continue
      expect(value.dropped).toBe(0)
      return { merge, rows: value.rows, bytes: value.rows.reduce((sum, { fileBytes }) => sum + fileBytes, 0) }
    }
  })
  const before = inputs.reduce((sum, { fileBytes }) => sum + fileBytes, 0)
  expect(sizes[0]!.bytes).toBeLessThan(before)
  expect(sizes[1]!.bytes).toBeLessThan(sizes[0]!.bytes)
  const { merge, rows } = sizes[1]!
  expect(runTransaction(store.root, 'none', () => putMerged(store, new RecordBuilder(), merge.inputs, rows))).toBe(true)
  await expectAllRight()
})

it('merge() of an engine waits for the merges of levels', async () => {
  const path = join(folder.path, 'long')
  await fill(path, 600)
  const engine = openStateEngine({ path, durability: 'none' })
  await engine.merge()
  expect(listSegments(path).length).toBe(1)
  await engine.close()
})

it('commits wait for merges while a level has many segments, and only then', async () => {
  await store.root.close()
  await fill(folder.path, KEYS, 15 - FILES)
  store = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none' })
  expect(filesOfRows().length).toBe(15)
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const transact = async (work: () => boolean) => {
    begin()
    await released
    return runTransaction(store.root, 'none', work)
  }
  const merger = mergerWith({ transact })
  // No merge has begun.
  await merger.keepPace(2 ** 30)
  merger.start()
  expect(merger.isBehind(1_000)).toBe(false)
  expect(merger.isBehind(2 ** 30)).toBe(true)
  let hasResolved = false
  const paced = merger.keepPace(2 ** 30).then(() => {
    hasResolved = true
  })
  await begun
  expect(hasResolved).toBe(false)
  expect(merger.isBehind(0)).toBe(true)
  release()
  await paced
  await merger.settled()
  expect(filesOfRows().length).toBe(1)
  expect(merger.isBehind(2 ** 30)).toBe(false)
})

it('commits do not wait for merges that cannot run', async () => {
  await store.root.close()
  await fill(folder.path, KEYS, 15 - FILES)
  store = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none' })
  const full = mergerWith({ freeBytes: () => 0 })
  full.start()
  await full.keepPace(2 ** 30)
  const failing = mergerWith({
    transact: async () => {
      throw new LedgerStateError('store_full', 'the disk is full')
    },
  })
  failing.start()
  await failing.keepPace(2 ** 30)
  expect(filesOfRows().length).toBe(15)
})

it('runs long merges in the thread, and leaves no file if it is stopped', async () => {
  const path = join(folder.path, 'long')
  await fill(path, 600)
  const long = openLmdbStore({ path, readOnly: false, durability: 'none' })
  const transact = async (work: () => boolean) => runTransaction(long.root, 'none', work)
  const before = listSegments(path).toSorted()
  let stopped: Promise<void> | undefined
  const stopping: LevelMerger = mergerWith({
    store: long,
    numbers: new SegmentNumbers(long),
    transact,
    atFailpoint: (point) => {
      if (point === 'level: began') stopped = stopping.stop()
    },
  })
  await stopping.settled()
  await stopped
  expect(listSegments(path).toSorted()).toEqual(before)
  expect(readdirSync(path).filter((name) => name.endsWith('.new'))).toEqual([])
  const merger = mergerWith({ store: long, numbers: new SegmentNumbers(long), transact })
  await merger.settled()
  await merger.stop()
  long.root.resetReadTxn()
  expect(listSegmentRows(long).length).toBe(1)
  await long.root.close()
})

it('a merge into a low level goes before one into a higher level that began earlier', async () => {
  const inputs = listSegmentRows(store)
  const work = new LevelWork(unsyncedFiles(store), new SharedProgress())
  const ended: number[] = []
  const run = async (level: number, files: typeof inputs) => {
    await work.run({ inputs: files, level, floor: undefined, file: 900 + level, codec: 'none' })
    ended.push(level)
  }
  vi.stubEnv('LEDGER_STATE_SEGMENT_BYTES', '1000000')
  await Promise.all([run(3, inputs), run(2, inputs), run(1, inputs)])
  expect(ended).toEqual([1, 2, 3])
})
