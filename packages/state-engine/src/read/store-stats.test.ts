import { describe, expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine, openStateEngineReader } from '../open-state-engine.js'

const folder = temporaryFolder()

it('storeStats counts the kept entries', async () => {
  const engine = openStateEngine({ path: folder.path, memtableBytes: 0 })
  await engine.commit([record(0, [[bytes('key'), bytes('value')]], 0)], CHAIN)
  await engine.commit([record(1, [[bytes('key'), new Uint8Array(10_000)]], 1)], CHAIN)
  expect(engine.stats).toMatchObject({ keys: 1, historyEntries: 1, blocks: 2, payloadBytes: 2 * 3 + 5 + 10_000 })
  expect(engine.stats.fileBytes).toBeGreaterThan(engine.stats.freeBytes)
  await engine.prune(1n)
  expect(engine.stats).toMatchObject({ keys: 1, historyEntries: 0, blocks: 1, payloadBytes: 3 + 10_000 })
  await engine.close()
})

it('storeStats counts unmerged entries separately', async () => {
  const engine = openStateEngine({ path: folder.path })
  await engine.commit([record(0, [[bytes('key'), bytes('value')]], 0)], CHAIN)
  expect(engine.stats).toMatchObject({ keys: 1, memtableEntries: 0 })
  await engine.commit([record(1, [[bytes('key'), new Uint8Array(10_000)]], 1)], CHAIN)
  const { memtableBytes, walBytes } = engine.stats
  expect(engine.stats).toMatchObject({ keys: 1, historyEntries: 1, blocks: 2, payloadBytes: 3 + 5, memtableEntries: 1 })
  await engine.prune(1n)
  expect(engine.stats).toMatchObject({ blocks: 1 })
  expect(walBytes).toBeGreaterThan(10_000)
  expect(memtableBytes).toBeGreaterThan(walBytes)
  await engine.close()
})

describe('storeStats of a store with several segment files', () => {
  it('counts a key once, exactly if there are few, and within a tenth if there are many', async () => {
    const keyOf = (at: number) => bytes(`key ${at}`)
    const writesOf = (first: number, end: number) =>
      Array.from({ length: end - first }, (_, at) => [keyOf(first + at), bytes('value')] as const)
    const engine = openStateEngine({ path: folder.path, memtableBytes: 0, durability: 'none' })
    await engine.commit([record(0, writesOf(0, 1_500), 0)], CHAIN)
    await engine.commit([record(1, writesOf(500, 2_000))], CHAIN)
    expect(engine.stats).toMatchObject({ keys: 2_000, historyEntries: 1_500, mergedWrites: 3_000 })
    for (let version = 2; version < 6; version++) await engine.commit([record(version, writesOf(0, 9_000))], CHAIN)
    for (let times = 0; times < 2; times++) {
      const { keys, mergedWrites } = engine.stats
      expect(keys).toBeGreaterThan(8_100)
      expect(keys).toBeLessThan(9_900)
      expect(mergedWrites).toBe(3_000 + 4 * 9_000)
    }
    const reader = openStateEngineReader({ path: folder.path })
    expect(reader.stats.keys).toBe(engine.stats.keys)
    await reader.close()
    await engine.close()
  })
})
