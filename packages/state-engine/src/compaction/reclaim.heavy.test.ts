// Superseded writes that a prune leaves in the files: their number, their bytes, and that `reclaim` and compact
// snapshots drop them.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Write } from '@ledger-state/core'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import {
  type LmdbEngineReader,
  openStateEngine,
  openStateEngineReader,
  type StateEngine,
} from '../open-state-engine.js'

const folder = temporaryFolder()
const KEYS = Array.from({ length: 60 }, (_, at) => bytes(`key ${at}`))

/** Commits versions, in blocks of three, with random writes to few keys. */
async function fill(engine: StateEngine, from: number, to: number, random: ReturnType<typeof createRandom>) {
  for (let version = from; version < to; version++) {
    const keys = random.shuffled(KEYS).slice(0, random.below(6))
    const writes = keys.map((key): Write => [key, random.below(5) === 0 ? null : random.bytes(random.below(300))])
    await engine.commit([record(version, writes, version % 3 === 0 ? version / 3 : undefined)], CHAIN)
  }
}

/** All readable values, and the number of writes after the oldest version, by asking for each key. */
function readAll(engine: LmdbEngineReader) {
  const { oldestVersion, latestVersion } = engine.ledger!
  let entries = 0
  const values: unknown[] = []
  for (const key of KEYS) {
    for (const { version } of engine.history(key)) if (version > oldestVersion) entries++
    for (let version = oldestVersion; version <= latestVersion; version++) {
      const value = engine.at(version).get(key)
      values.push(value && Buffer.from(value).toString('hex'))
    }
  }
  return { entries, values }
}

it.each([0, 40_000, 64 * 2 ** 20])(
  'history entries are those that can be read, and `reclaim` drops all others, with a memtable of %i bytes',
  async (memtableBytes) => {
    const random = createRandom(testSeed())
    const engine = openStateEngine({ path: folder.path, durability: 'none', memtableBytes })
    await fill(engine, 0, 150, random)
    for (const retain of [120n, 60n, 20n, 1n]) {
      await engine.prune(retain)
      const before = readAll(engine)
      expect(engine.stats.historyEntries).toBe(before.entries)
      if (retain === 60n) continue
      for (let times = 0; times < 2; times++) {
        await engine.reclaim()
        const { historyEntries, mergedWrites, reclaimableBytes } = engine.stats
        expect(readAll(engine)).toEqual(before)
        expect(historyEntries).toBe(before.entries)
        // In addition to the state at the oldest version.
        expect(mergedWrites - historyEntries).toBe([...engine.at(engine.ledger!.oldestVersion).scan(bytes(''))].length)
        expect(reclaimableBytes).toBeLessThan(100_000)
        expect((await engine.check()).problems).toEqual([])
      }
      const reader = openStateEngineReader({ path: folder.path })
      expect(readAll(reader)).toEqual(before)
      expect(reader.stats.historyEntries).toBe(before.entries)
      await reader.close()
    }
    // The store goes on.
    await fill(engine, 150, 210, random)
    await engine.prune(40n)
    await engine.merge()
    expect(engine.stats.historyEntries).toBe(readAll(engine).entries)
    expect((await engine.check()).problems).toEqual([])
    await engine.close()
  },
)

function sizeOf(path: string): number {
  return readdirSync(path)
    .filter((name) => name.startsWith('segment-'))
    .reduce((sum, name) => sum + statSync(join(path, name)).size, 0)
}

it('a compact snapshot is as small as a store that never had the other versions, and answers the same', async () => {
  const engine = openStateEngine({ path: join(folder.path, 'store'), durability: 'none' })
  const random = createRandom(testSeed())
  const keys = Array.from({ length: 500 }, (_, at) => bytes(`key ${at}`))
  const versions = Array.from({ length: 4_000 }, (_, version) =>
    record(
      version,
      [keys[random.below(250)]!, keys[250 + random.below(250)]!]
        .map((key): Write => [key, random.bytes(100)])
        .slice(0, 1 + (version % 2)),
      version,
    ),
  )
  await engine.commit(
    [
      record(
        0,
        keys.map((key): Write => [key, bytes('first')]),
        0,
      ),
    ],
    CHAIN,
  )
  for (const one of versions.slice(1)) await engine.commit([one], CHAIN)
  await engine.merge()
  const [whole, { fileBytes }] = [sizeOf(join(folder.path, 'store')), engine.stats]
  await engine.prune(200n)
  const { historyEntries, reclaimableBytes } = engine.stats
  const [plain, compact] = ['plain', 'compact'].map((name) => join(folder.path, name)) as [string, string]
  await engine.snapshot(plain)
  await engine.snapshot(compact, { compact: true })
  const fresh = openStateEngine({ path: join(folder.path, 'fresh'), durability: 'none' })
  const { oldestVersion, oldestBlock } = engine.ledger!
  const state = await fresh.beginImport(oldestVersion)
  await state.add([...engine.at(oldestVersion).scan(bytes(''))])
  await state.finish({ block: oldestBlock, ...CHAIN })
  for (const one of versions.slice(Number(oldestVersion) + 1)) await fresh.commit([one], CHAIN)
  await fresh.merge()
  const ratio = sizeOf(compact) / sizeOf(join(folder.path, 'fresh'))
  expect(ratio).toBeLessThan(1.2)
  expect(sizeOf(plain)).toBe(whole)
  // The number of bytes that can be reclaimed is about the saving of the compact copy.
  expect(Math.abs(fileBytes - reclaimableBytes - openSize(compact))).toBeLessThan(fileBytes / 5)
  const copy = openStateEngineReader({ path: compact })
  expect(copy.stats.historyEntries).toBe(historyEntries)
  for (const key of keys) {
    for (const version of [oldestVersion, oldestVersion + 77n, 3_999n]) {
      expect(copy.at(version).get(key)).toEqual(engine.at(version).get(key))
    }
  }
  expect((await copy.check()).problems).toEqual([])
  for (const one of [copy, fresh, engine]) await one.close()
})

function openSize(path: string): number {
  const reader = openStateEngineReader({ path })
  const { fileBytes } = reader.stats
  void reader.close()
  return fileBytes
}
