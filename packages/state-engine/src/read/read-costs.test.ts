import { Buffer } from 'node:buffer'
import type { Write } from '@ledger-state/core'
import type { HistoryOptions } from '@ledger-state/engine'
import { overriding } from '@ledger-state/testing/overriding'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { neverFail } from '../failpoints/failpoints.js'
import { type LmdbStore, openLmdbStore } from '../lmdb/lmdb-store.js'
import type { RangeOptions, ReadOptions, Table } from '../lmdb/table.js'
import { openStateEngine } from '../open-state-engine.js'
import { WalFollower } from '../wal/follower.js'
import { StoreReads } from './store-reads.js'

// Costs of reads are counted, not timed: gets, ranges that are begun, and keys and records that ranges return.
let counts = { gets: 0, ranges: 0, items: 0 }

function counting<K>(table: Table<K>): Table<K> {
  function* each<T>(items: Iterable<T>): Generator<T> {
    counts.ranges++
    for (const item of items) {
      counts.items++
      yield item
    }
  }
  return overriding(table, {
    getBinaryFast(key: K, options?: ReadOptions) {
      counts.gets++
      return table.getBinaryFast(key, options)
    },
    getKeys: (options: RangeOptions<K>) => each(table.getKeys(options)),
    getRange: (options: RangeOptions<K>) => each(table.getRange(options)),
  })
}

function countingStore(store: LmdbStore): LmdbStore {
  const { latest, latestByStoredKey, historyLog, blockLists } = store
  return {
    ...store,
    latest: counting(latest),
    latestByStoredKey: counting(latestByStoredKey),
    historyLog: counting(historyLog),
    blockLists: counting(blockLists),
  }
}

/** Counts of a read. */
function costOf(read: () => unknown): typeof counts {
  counts = { gets: 0, ranges: 0, items: 0 }
  read()
  return counts
}

const VERSIONS = 12_000
const PAGE = 100
const [OFTEN, SELDOM] = [bytes('often'), bytes('seldom')]
const ACCOUNT_KEYS = Array.from({ length: 3_000 }, (_, at) => bytes(`account ${String(at).padStart(5, '0')}`))

const folder = temporaryFolder()
let reads: StoreReads
let store: LmdbStore
let follower: WalFollower

async function openReads(memtableBytes: number | undefined, verifyReads = false): Promise<void> {
  const engine = openStateEngine({ path: folder.path, durability: 'none', memtableBytes })
  await engine.commit([record(0, [...ACCOUNT_KEYS.map((key): Write => [key, key])], 0)], CHAIN)
  for (let first = 1; first <= VERSIONS; first += 1_000) {
    const batch = Array.from({ length: 1_000 }, (_, at) => {
      const version = first + at
      const writes: Write[] = [[OFTEN, bytes(`${version}`)]]
      if (version % 100 === 0) writes.push([SELDOM, bytes(`${version}`)])
      return record(version, writes, version % 3 === 1 ? version : undefined)
    })
    await engine.commit(batch, CHAIN)
  }
  await engine.close()
  store = openLmdbStore({ path: folder.path, readOnly: true, verifyReads })
  const counted = countingStore(store)
  follower = new WalFollower(counted, neverFail)
  reads = new StoreReads(counted, follower, neverFail)
}

afterEach(async () => {
  reads.close()
  follower.close()
  await store.root.close()
})

function pageOfHistory(key: Uint8Array, options: HistoryOptions): number {
  let length = 0
  for (const _ of reads.history(key, options)) if (++length === PAGE) break
  return length
}

describe.each([
  ['merged', 0],
  ['merged in part', 400_000],
  ['in the memtable but for the first version', undefined],
] as const)('in a store whose versions are %s', (_, memtableBytes) => {
  beforeEach(() => openReads(memtableBytes))

  const middle = { first: 4_000n, last: 9_000n }

  it.each([
    ['desc', {}],
    ['asc', {}],
    ['desc', middle],
    ['asc', middle],
  ] as const)('a page of a history costs as much of 12,000 versions as of 120: %s %o', (order, part) => {
    const shallow = costOf(() => expect(pageOfHistory(SELDOM, { order })).toBe(PAGE))
    const deep = costOf(() => expect(pageOfHistory(OFTEN, { ...part, order })).toBe(PAGE))
    // The record of the key, some nodes, and its chunks: one for each batch of the seldom key.
    expect(shallow.gets).toBeLessThanOrEqual(30)
    expect(deep.gets).toBeLessThanOrEqual(15)
    expect([shallow.ranges, deep.ranges]).toEqual([0, 0])
  })

  it('a page of a scan costs as much at the end of 3,000 keys as at their beginning, and follows from its length', () => {
    const page = (start: Uint8Array, limit: number) => [...reads.at().scan(bytes('account '), { start, limit })]
    const first = costOf(() => expect(page(ACCOUNT_KEYS[0]!, PAGE)).toHaveLength(PAGE))
    const last = costOf(() => expect(page(ACCOUNT_KEYS.at(-PAGE)!, PAGE)).toHaveLength(PAGE))
    expect(last).toEqual(first)
    expect(first).toEqual({ gets: PAGE, ranges: 1, items: PAGE })
    const one = costOf(() => expect(page(ACCOUNT_KEYS[2_000]!, 1)).toHaveLength(1))
    expect(one.gets).toBe(1)
    expect(one.items).toBeLessThan(20)
  })

  it('the search for one of 4,000 blocks takes a few reads', () => {
    let most = 0
    for (let version = 1; version < VERSIONS; version += 331) {
      const { block } = reads.blockAt(BigInt(version))
      const byHeight = costOf(() => expect(reads.blockByHeight(block.height)?.block).toEqual(block))
      const byTime = costOf(() => expect(reads.blockAtTime(block.timestampUsec)?.block).toEqual(block))
      most = Math.max(most, byHeight.ranges, byTime.ranges)
    }
    // One or two ranges for each block that is looked at: the ends of the window, and one or two guesses with a
    // neighbour.
    expect(most).toBeLessThanOrEqual(12)
  })

  it('a history has the newest values first', () => {
    const newest = [...reads.history(OFTEN, { first: BigInt(VERSIONS) - 2n })].map(({ value }) =>
      Buffer.from(value!).toString(),
    )
    expect(newest).toEqual([`${VERSIONS}`, `${VERSIONS - 1}`, `${VERSIONS - 2}`])
  })
})

describe('a list of versions', () => {
  it('costs what it holds if they are in the memtable, however many keys there are', async () => {
    await openReads(undefined)
    const cost = costOf(() => {
      const listed = [...reads.versions(BigInt(VERSIONS) - 150n, BigInt(VERSIONS))]
      expect(listed).toHaveLength(151)
      const { version, writes } = listed.at(-1)!
      expect([version, ...writes.map(([key]) => Buffer.from(key).toString())]).toEqual([12_000n, 'often', 'seldom'])
    })
    expect(cost).toEqual({ gets: 0, ranges: 0, items: 0 })
  })

  it('reads those that are merged from the data file, and the others from the memtable', async () => {
    await openReads(400_000)
    const merged = reads.snapshot().record!.ledger.latestVersion
    expect(merged).toBeLessThan(VERSIONS - 1)
    const listed = [...reads.versions(merged - 10n, merged + 10n)]
    expect(listed.map(({ version }) => version)).toEqual(
      Array.from({ length: 21 }, (_, at) => merged - 10n + BigInt(at)),
    )
    for (const { version, writes } of listed) expect(writes[0]).toEqual([Buffer.from(OFTEN), Buffer.from(`${version}`)])
  })
})

describe('look-ups of absent keys that are verified', () => {
  it('verify each of 12,000 keys once, in rounds over all of them', async () => {
    await openReads(0, true)
    const absent = Array.from({ length: 12_000 }, (_, at) => bytes(`account ${String(at).padStart(5, '0')}?`))
    const round = () =>
      costOf(() => {
        for (const key of absent) expect(reads.at().get(key)).toBeUndefined()
      })
    expect(round().ranges).toBeGreaterThanOrEqual(absent.length)
    for (let rounds = 0; rounds < 2; rounds++) expect(round().ranges).toBe(0)
  })

  it('verify only the seldom ones of more keys than are remembered', async () => {
    await openReads(0, true)
    const often = bytes('account 00001?')
    let verified = 0
    for (let at = 0; at < 60_000; at++) {
      reads.at().get(bytes(`account ${String(at).padStart(60, '0')}?`))
      if (at % 1_000 === 0) verified += costOf(() => reads.at().get(often)).ranges > 0 ? 1 : 0
    }
    expect(verified).toBe(1)
  })
})
