import { copyFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isLedgerStateError } from '@ledger-state/core'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { beforeEach, expect, it } from 'vitest'
import { changeByte } from '../../testing/page-damage.ts'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { RecordBuilder } from '../bytes/record.js'
import { openLmdbStore } from '../lmdb/lmdb-store.js'
import { runTransaction } from '../lmdb/write-transaction.js'
import { openStateEngine, openStateEngineReader, type StateEngine } from '../open-state-engine.js'
import { listSegmentRows, putSegmentRow, removeSegmentRow } from '../records/segment-rows.js'
import { listSegments, segmentPath } from '../segments/segment-names.js'

const folder = temporaryFolder()
const EVERY_KEY = new Uint8Array(0)

beforeEach(async () => {
  const engine = openStateEngine({ path: folder.path, memtableBytes: 0, durability: 'none' })
  for (let version = 0; version < 12; version++) {
    const writes = Array.from({ length: 50 }, (_, at) => [bytes(`key ${at}`), bytes(`${version} ${at}`)] as const)
    await engine.commit([record(version, [...writes], version)], CHAIN)
  }
  await engine.close()
})

async function problemsOf(path: string): Promise<readonly string[]> {
  const reader = openStateEngineReader({ path })
  try {
    return (await reader.check()).problems
  } finally {
    await reader.close()
  }
}

/** Reads everything. Returns the fault if there is one; everything read before it is right. */
async function readAll(path: string): Promise<string | undefined> {
  const reader = openStateEngineReader({ path })
  try {
    for (let version = 0n; version < 12n; version++) {
      for (const { key, value } of reader.at(version).scan(EVERY_KEY)) {
        expect(Buffer.from(value).toString()).toBe(`${version} ${Buffer.from(key).toString().slice(4)}`)
      }
    }
    for (const { version } of reader.history(bytes('key 7'))) expect(version).toBeLessThan(12n)
    for (const { writes } of reader.versions(1n, 11n)) expect(writes.length).toBe(50)
    for (let version = 0n; version < 12n; version++) expect(reader.blockAt(version).block.height).toBe(version)
    return undefined
  } catch (error) {
    if (!isLedgerStateError(error, 'store_corrupt')) throw error
    return error.message
  } finally {
    await reader.close()
  }
}

it('the check finds a flipped bit in any segment file, and no read answers wrong', async () => {
  const random = createRandom(testSeed())
  expect([await problemsOf(folder.path), await readAll(folder.path)]).toEqual([[], undefined])
  const files = listSegments(folder.path)
  expect(files.length).toBeGreaterThan(1)
  for (let flip = 0; flip < 40; flip++) {
    const path = segmentPath(folder.path, random.pick(files))
    const { size } = statSync(path)
    const offset = random.below(3) === 0 ? random.below(size) : size - 1 - random.below(6_000)
    const bit = 1 << random.below(8)
    changeByte(path, offset, bit)
    const problems = await problemsOf(folder.path)
    expect(problems.join(), `byte ${offset}, seed ${testSeed()}`).toContain(path)
    const fault = await readAll(folder.path)
    if (fault !== undefined) expect(fault).toContain(path)
    changeByte(path, offset, bit)
  }
  expect(await problemsOf(folder.path)).toEqual([])
})

it('the check counts a key of several files once, reports its progress, and reads no file that it was told is sound', async () => {
  const reader = openStateEngineReader({ path: folder.path })
  const names: string[] = []
  const progress: number[] = []
  const report = await reader.check({
    onFile: (name) => void names.push(name),
    onProgress: (records) => void progress.push(records),
  })
  expect(report).toMatchObject({ problems: [], keys: 50, supersededEntries: 11 * 50, records: 12 * 50 })
  expect(names.length).toBe(listSegments(folder.path).length)
  const path = segmentPath(folder.path, Number(/^segment-(\d+) [0-9a-f]{64}$/.exec(names[0]!)![1]))
  // A block: the damage is found unless the check is told to leave this file out.
  changeByte(path, 13_000, 1)
  const read: string[] = []
  const onFile = (name: string) => void read.push(name)
  expect((await reader.check({ onFile })).problems.join()).toContain(path)
  expect(read).toEqual(names.slice(1))
  expect((await reader.check({ soundFiles: new Set(read) })).problems.join()).toContain(path)
  expect((await reader.check({ soundFiles: new Set(names.slice(0, 1)) })).problems).toEqual([])
  expect((await reader.check({ soundFiles: new Set(names) })).problems).toEqual([])
  await reader.close()
})

it('a check of segment files ends when the engine is closed', async () => {
  const reader = openStateEngineReader({ path: folder.path })
  const check = reader.check()
  await reader.close()
  await expect(check).rejects.toMatchObject({ code: 'store_closed' })
})

it('a segment file that is gone is reported by every read, and by the check', async () => {
  const [file] = listSegments(folder.path)
  rmSync(segmentPath(folder.path, file!))
  expect(await readAll(folder.path)).toBe(
    `the store is damaged: ${segmentPath(folder.path, file!)} at byte 0: the file is missing`,
  )
  expect(await problemsOf(folder.path)).toContain(`the store is damaged: the segment file ${file} is missing`)
})

it('a segment file in the place of another is refused', async () => {
  const [one, other] = listSegments(folder.path).slice(-2) as [number, number]
  copyFileSync(segmentPath(folder.path, one), segmentPath(folder.path, other))
  expect(await readAll(folder.path)).toContain('the file is not the one that the catalog names')
})

it('a writer removes segment files that no row names, and unfinished ones', async () => {
  const [one] = listSegments(folder.path)
  const before = listSegments(folder.path)
  copyFileSync(segmentPath(folder.path, one!), segmentPath(folder.path, 900))
  copyFileSync(segmentPath(folder.path, one!), `${segmentPath(folder.path, 901)}.new`)
  await openStateEngine({ path: folder.path }).close()
  expect(listSegments(folder.path).toSorted()).toEqual(before.toSorted())
  expect(statSync(join(folder.path, 'segment-901.new'), { throwIfNoEntry: false })).toBe(undefined)
})

it('blocks below the window are not counted, whether they were merged before the prune or after it', async () => {
  const path = join(folder.path, 'pruned')
  const engine = openStateEngine({ path, durability: 'none' })
  for (let version = 0; version < 40; version++) {
    await engine.commit([record(version, [[bytes('k'), bytes(`${version}`)]], version)], CHAIN)
    if (version === 20) await engine.merge()
  }
  await engine.prune(5n)
  expect(engine.stats.blocks).toBe(5)
  await engine.merge()
  expect(engine.stats.blocks).toBe(5)
  expect((await engine.check()).problems).toEqual([])
  expect(Buffer.from(engine.at(35n).get(bytes('k'))!).toString()).toBe('35')
  await engine.close()
})

it('a row that is gone from the catalog is noticed by every read, and by the check', async () => {
  const store = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none' })
  const rows = listSegmentRows(store)
  for (const place of [0, 1, rows.length - 1]) {
    const row = rows[place]!
    runTransaction(store.root, 'none', () => removeSegmentRow(store, row))
    const fault = `no segment file has version ${row.firstVersion}, which is merged`
    expect(await readAll(folder.path)).toContain(fault)
    expect((await problemsOf(folder.path)).join()).toContain(fault)
    runTransaction(store.root, 'none', () => putSegmentRow(store, new RecordBuilder(), row))
  }
  expect([await problemsOf(folder.path), await readAll(folder.path)]).toEqual([[], undefined])
  await store.root.close()
})

it('a row of an import that is gone from the catalog is noticed, before the import is finished and after it', async () => {
  const path = join(folder.path, 'imported')
  const addParts = async (state: Awaited<ReturnType<StateEngine['beginImport']>>, from: number, to: number) => {
    for (let part = from; part < to; part++) {
      const entries = Array.from({ length: 5 }, (_, at) => ({ key: bytes(`key ${part} ${at}`), version: 5n }))
      await state.add(entries.map((entry) => ({ ...entry, value: bytes('old') })))
    }
  }
  const base = { chainId: 4, block: { height: 9n, epoch: 0n, timestampUsec: 0n } }
  const first = openStateEngine({ path, durability: 'none' })
  await addParts(await first.beginImport(9n), 0, 3)
  await first.close()

  /** Runs work while the catalog lacks a row. */
  const without = async (place: number, work: () => Promise<void>) => {
    const store = openLmdbStore({ path, readOnly: false, durability: 'none' })
    const row = listSegmentRows(store)[place]!
    runTransaction(store.root, 'none', () => removeSegmentRow(store, row))
    await work()
    // No writer removes the file.
    await openStateEngine({ path, durability: 'none' }).close()
    runTransaction(store.root, 'none', () => putSegmentRow(store, new RecordBuilder(), row))
    await store.root.close()
  }
  const fault = { code: 'store_corrupt' }
  await without(1, async () => {
    const engine = openStateEngine({ path, durability: 'none' })
    const resumed = await engine.beginImport(9n, { resume: true })
    await expect(addParts(resumed, 3, 4)).rejects.toMatchObject(fault)
    await expect(resumed.finish(base)).rejects.toMatchObject(fault)
    await engine.close()
  })
  const engine = openStateEngine({ path, durability: 'none' })
  const resumed = await engine.beginImport(9n, { resume: true })
  await addParts(resumed, 3, 5)
  await resumed.finish(base)
  await engine.close()
  for (const place of [0, 2, 4]) {
    await without(place, async () => {
      const reader = openStateEngineReader({ path })
      for (let time = 0; time < 2; time++) {
        expect(() => reader.at().get(bytes('key 0 0'))).toThrow(/segment/)
        expect(() => [...reader.at().scan(EVERY_KEY)]).toThrow(/segment/)
      }
      await reader.close()
      expect((await problemsOf(path)).join()).toContain('segment')
    })
  }
  expect(await problemsOf(path)).toEqual([])
})

it('an imported state of many parts is right below later writes', async () => {
  const path = join(folder.path, 'imported')
  const engine = openStateEngine({ path, durability: 'none', memtableBytes: 0 })
  const state = await engine.beginImport(9n)
  const keyOf = (at: number) => bytes(`key ${at % 100} ${at}`)
  for (let part = 0; part < 20; part++) {
    const entries = Array.from({ length: 10 }, (_, at) => ({
      key: keyOf(10 * part + at),
      version: part < 16 ? 5n : 0n,
    }))
    await state.add(entries.map((entry) => ({ ...entry, value: bytes('old') })))
  }
  await expect(state.add([{ key: keyOf(7), version: 1n, value: bytes('again') }])).rejects.toThrow('twice')
  await state.finish({ chainId: 4, block: { height: 9n, epoch: 0n, timestampUsec: 0n } })
  for (let version = 10; version < 40; version++) {
    await engine.commit([record(version, [[keyOf(version), bytes(`${version}`)]], version)], { chainId: 4 })
  }
  const textAt = (at: number, version: bigint) => Buffer.from(engine.at(version).get(keyOf(at))!).toString()
  const expectRight = (oldest: bigint) => {
    for (let at = 0; at < 200; at++) {
      if (oldest === 9n || at >= 40) expect(textAt(at, oldest)).toBe('old')
      expect(textAt(at, 39n)).toBe(at >= 10 && at < 40 ? `${at}` : 'old')
    }
    expect([...engine.at().scan(EVERY_KEY)].length).toBe(200)
  }
  expectRight(9n)
  await engine.prune(3n)
  expectRight(37n)
  expect((await engine.check()).problems).toEqual([])
  await engine.close()
})
