import { Buffer } from 'node:buffer'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { type LmdbStore, openLmdbStore } from '../lmdb/lmdb-store.js'
import { runTransaction } from '../lmdb/write-transaction.js'
import { openStateEngine } from '../open-state-engine.js'
import { LatestRepacker } from './repack-latest.js'

const SEED = testSeed()
const KEYS = 2_000
/** Bytes of LMDB's header of a node, and of its offset in the page. */
const NODE_OVERHEAD = 10

function keyOf(number: number): Buffer {
  return Buffer.from(`key ${number}`)
}

describe(`the pages of latest (TEST_SEED=${SEED})`, () => {
  const folder = temporaryFolder()
  let store: LmdbStore

  beforeEach(() => {
    store = openLmdbStore({ path: folder.path, readOnly: false, durability: 'none' })
  })
  afterEach(() => store.root.close())

  function transact<T>(work: () => T): T {
    return runTransaction(store.root, 'none', work)
  }

  function allRecords(): Map<string, string> {
    const range = store.latestByStoredKey.getRange({ start: undefined, end: undefined })
    return new Map([...range].map(({ key, value }) => [Buffer.from(key).toString('hex'), value.toString('hex')]))
  }

  /** Puts records of random lengths, `times` times. */
  function putRecords(times: number): void {
    const random = createRandom(SEED)
    for (let time = 0; time < times; time++) {
      transact(() => {
        for (let number = 0; number < KEYS; number++) {
          const length = random.below(20) === 0 ? random.below(3_600) : random.below(400)
          store.latest.putSync(keyOf(number), Buffer.alloc(length, number))
        }
      })
    }
  }

  function leafPages(): number {
    return store.latestByStoredKey.getStats().treeLeafPageCount
  }

  it('are filled again, and their records stay as they are', () => {
    putRecords(6)
    const before = allRecords()
    const pagesBefore = leafPages()
    const repacker = new LatestRepacker(store)
    for (let slice = 0; slice < 16 * KEYS; slice += 1_000) transact(() => repacker.pack(1_000))
    expect(allRecords()).toEqual(before)
    expect(leafPages()).toBeLessThan(0.85 * pagesBefore)
  })

  it('are packed in a transaction that is run again as in one that is not', () => {
    putRecords(3)
    const before = allRecords()
    const repacker = new LatestRepacker(store)
    const undone = () =>
      transact(() => {
        repacker.pack(4 * KEYS)
        throw new Error('undone')
      })
    expect(undone).toThrow('undone')
    expect(allRecords()).toEqual(before)
    transact(() => repacker.pack(4 * KEYS))
    expect(allRecords()).toEqual(before)
  })

  it('are left in peace where they are full', () => {
    putRecords(6)
    let moved = 0
    const latest = Object.create(store.latestByStoredKey, {
      removeSync: {
        value: (key: Uint8Array) => {
          moved++
          store.latestByStoredKey.removeSync(key)
        },
      },
    })
    const repacker = new LatestRepacker({ ...store, latestByStoredKey: latest })
    // Once all pages are packed, packing again finds nothing to save.
    transact(() => repacker.pack(8 * KEYS))
    moved = 0
    transact(() => repacker.pack(64 * KEYS))
    expect(moved).toBeLessThan(4 * KEYS)
  })

  it('of an empty store are none', () => {
    transact(() => new LatestRepacker(store).pack(100_000))
    expect(leafPages()).toBe(0)
  })
})

describe.runIf(isSlowRun)('an engine under a steady load', () => {
  const folder = temporaryFolder()

  it('does not let the pages of its newest values empty', async () => {
    const random = createRandom(1)
    const engine = openStateEngine({ path: folder.path, durability: 'none', memtableBytes: 250_000 })
    let latestVersion = -1n
    const commit = async (numbers: readonly number[]) => {
      const version = ++latestVersion
      const block = { height: version, epoch: 0n, timestampUsec: version }
      const writes = numbers.map((number) => {
        const length = random.below(random.below(8) === 0 ? 1_800 : 100)
        return [keyOf(number), Buffer.alloc(length, Number(version & 0xffn))] as const
      })
      await engine.commit([{ version, block, writes }], { chainId: 1 })
    }
    const all = Array.from({ length: KEYS }, (_, number) => number)
    await commit(all)
    for (let round = 0; round < 250; round++) {
      await commit([...new Set(Array.from({ length: 100 }, () => random.below(KEYS)))])
      if (round % 10 === 0) await engine.prune(200n)
    }
    expect((await engine.check()).problems).toEqual([])
    await engine.close()
    const store = openLmdbStore({ path: folder.path, readOnly: true })
    // Longer records have their own pages.
    const lengths = [...store.latestByStoredKey.getRange({ start: undefined, end: undefined })]
      .map(({ key, value }) => key.length + value.length + NODE_OVERHEAD)
      .filter((length) => length < 2_000)
    const { treeLeafPageCount, pageSize } = store.latestByStoredKey.getStats()
    await store.root.close()
    const filled = lengths.reduce((sum, length) => sum + length, 0) / (treeLeafPageCount * pageSize)
    expect(filled).toBeGreaterThan(0.42)
  })
})
