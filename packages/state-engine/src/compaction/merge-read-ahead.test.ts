import { truncateSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import type { Write } from '@ledger-state/core'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { type LmdbStore, openLmdbStore, STORE_FILE } from '../lmdb/lmdb-store.js'
import { openStateEngine } from '../open-state-engine.js'
import { type KeysInOrder, MergeReadAhead } from './merge-read-ahead.js'

const SEED = testSeed()
const folder = temporaryFolder()

/** Makes the file as long as the memory, with a hole that takes no disk space. LMDB accepts that. */
function enlarge(): void {
  truncateSync(join(folder.path, STORE_FILE), totalmem())
}

function keysInOrder(count: number): KeysInOrder {
  return { count, at: (place) => bytes(`key ${String(place).padStart(6, '0')}`) }
}

describe('a MergeReadAhead', () => {
  let store: LmdbStore
  /** Keys that were read ahead, in the order in which they were asked for. */
  let asked: string[]
  let calls: number
  let readers: number

  beforeEach(() => {
    vi.stubEnv('UV_THREADPOOL_SIZE', '12')
    store = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none' })
    asked = []
    calls = 0
    readers = 0
    const prefetch = vi.spyOn(store.latest, 'prefetch').getMockImplementation()
    vi.spyOn(store.latest, 'prefetch').mockImplementation(async (keys) => {
      calls++
      asked.push(...keys.map((key) => Buffer.from(key).toString()))
      await prefetch?.(keys)
    })
    const getStats = store.root.getStats.bind(store.root)
    vi.spyOn(store.root, 'getStats').mockImplementation(() => ({ ...getStats(), numReaders: readers }))
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    vi.restoreAllMocks()
    await store.root.close()
  })

  /** Advances from place to place, like a merge whose slices have `most` keys. */
  async function mergeBy(keys: KeysInOrder, most: number): Promise<void> {
    const readAhead = new MergeReadAhead(store, keys)
    for (let place = 0; place < keys.count; ) {
      const end = await readAhead.readFrom(place)
      expect(end).toBeGreaterThan(place)
      expect(asked.length).toBeGreaterThanOrEqual(end)
      place = Math.min(end, place + most)
    }
  }

  it.each([1, 700, 2_048, 10_000])('has read each key once before a slice of %i comes to it', async (most) => {
    enlarge()
    const keys = keysInOrder(most === 1 ? 2_100 : 9_001)
    await mergeBy(keys, most)
    expect(asked).toEqual(Array.from({ length: keys.count }, (_, place) => Buffer.from(keys.at(place)).toString()))
  })

  it('reads on as many threads as the pool spares', async () => {
    enlarge()
    await mergeBy(keysInOrder(2_000), 2_000)
    expect(calls).toBe(6)
  })

  it('of no keys reads nothing', async () => {
    enlarge()
    expect(await new MergeReadAhead(store, keysInOrder(0)).readFrom(0)).toBe(0)
    expect(calls).toBe(0)
  })

  it('reads nothing while the file is small compared with the memory', async () => {
    expect(await new MergeReadAhead(store, keysInOrder(9_000)).readFrom(0)).toBe(9_000)
    expect(calls).toBe(0)
  })

  it('reads nothing where the table of readers is nearly full', async () => {
    enlarge()
    readers = 126 - 16 - 5
    const readAhead = new MergeReadAhead(store, keysInOrder(9_000))
    expect(await readAhead.readFrom(0)).toBe(2_048)
    expect(calls).toBe(0)
    readers = 20
    expect(await readAhead.readFrom(2_048)).toBe(4_096)
    expect(await readAhead.readFrom(4_096)).toBe(6_144)
    expect(calls).toBeGreaterThan(0)
  })
})

describe(`an engine with a file that is large compared with the memory (TEST_SEED=${SEED})`, () => {
  afterEach(() => vi.unstubAllEnvs())

  it.each(['1', '4', '24'])('answers as ever, with %s threads', async (threads) => {
    vi.stubEnv('UV_THREADPOOL_SIZE', threads)
    const random = createRandom(SEED)
    await openStateEngine({ path: folder.path }).close()
    enlarge()
    const engine = openStateEngine({ path: folder.path, durability: 'none', memtableBytes: 400_000 })
    const model = new Map<string, string | undefined>()
    const keyOf = (number: number) => (number % 50 === 0 ? 'long '.repeat(500) : 'key ') + number
    for (let version = 0; version < 60; version++) {
      const numbers = new Set(Array.from({ length: 150 }, () => random.below(4_000)))
      const writes = [...numbers].map((number): Write => {
        const value = random.below(10) === 0 ? undefined : `${version} of ${number} `.repeat(random.below(20))
        model.set(keyOf(number), value)
        return [bytes(keyOf(number)), value === undefined ? null : bytes(value)]
      })
      await engine.commit([record(version, writes, version)], CHAIN)
    }
    expect(engine.stats.databases.latest!.records).toBeGreaterThan(2_000)
    const view = engine.at()
    for (const [key, value] of model) {
      const found = view.get(bytes(key))
      expect(found && Buffer.from(found).toString()).toBe(value)
    }
    await engine.check()
    await engine.close()
  })
})
