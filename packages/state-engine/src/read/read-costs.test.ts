import { Buffer } from 'node:buffer'
import type { Write } from '@ledger-state/core'
import type { HistoryOptions } from '@ledger-state/engine'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { neverFail } from '../failpoints/failpoints.js'
import { type LmdbStore, openLmdbStore } from '../lmdb/lmdb-store.js'
import { openStateEngine } from '../open-state-engine.js'
import { SegmentBlocks } from '../segments/segment-blocks.js'
import { WalFollower } from '../wal/follower.js'
import { StoreReads } from './store-reads.js'

// Costs of reads are counted, not timed: blocks of segment files that are loaded.
let loads = 0
beforeEach(() => {
  const { load } = SegmentBlocks.prototype
  const spy = vi.spyOn(SegmentBlocks.prototype, 'load').mockImplementation(function (this: SegmentBlocks, block) {
    loads++
    Reflect.apply(load, this, [block])
  })
  return () => spy.mockRestore()
})

/** Number of blocks that a read loads. */
function costOf(read: () => unknown): number {
  loads = 0
  read()
  return loads
}

const VERSIONS = 12_000
const PAGE = 100
const [OFTEN, SELDOM] = [bytes('often'), bytes('seldom')]
const ACCOUNT_KEYS = Array.from({ length: 3_000 }, (_, at) => bytes(`account ${String(at).padStart(5, '0')}`))

const folder = temporaryFolder()
let reads: StoreReads
let store: LmdbStore
let follower: WalFollower

async function openReads(memtableBytes: number | undefined): Promise<void> {
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
  store = openLmdbStore({ path: folder.path, readOnly: true })
  follower = new WalFollower(store, neverFail)
  reads = new StoreReads(store, follower, neverFail)
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
    // Two for each entry, which has up to 16 revisions; the seldom key has one in each batch that was merged.
    expect(shallow).toBeLessThanOrEqual(PAGE)
    expect(deep).toBeLessThanOrEqual(PAGE / 2)
  })

  it('a page of a scan costs as much at the end of 3,000 keys as at their beginning, and follows from its length', () => {
    const page = (start: Uint8Array, limit: number) => [...reads.at().scan(bytes('account '), { start, limit })]
    const first = costOf(() => expect(page(ACCOUNT_KEYS[0]!, PAGE)).toHaveLength(PAGE))
    const last = costOf(() => expect(page(ACCOUNT_KEYS.at(-PAGE)!, PAGE)).toHaveLength(PAGE))
    for (const cost of [first, last]) expect(cost).toBeLessThanOrEqual(3 * PAGE + 20)
    const one = costOf(() => expect(page(ACCOUNT_KEYS[2_000]!, 1)).toHaveLength(1))
    expect(one).toBeLessThanOrEqual(50)
  })

  it('a history has the newest values first', () => {
    const newest = [...reads.history(OFTEN, { first: BigInt(VERSIONS) - 2n })].map(({ value }) =>
      Buffer.from(value!).toString(),
    )
    expect(newest).toEqual([`${VERSIONS}`, `${VERSIONS - 1}`, `${VERSIONS - 2}`])
  })
})

describe('a list of versions', () => {
  it('costs as much as the content of the memtable, with any number of keys', async () => {
    await openReads(undefined)
    const cost = costOf(() => {
      const listed = [...reads.versions(BigInt(VERSIONS) - 150n, BigInt(VERSIONS))]
      expect(listed).toHaveLength(151)
      const { version, writes } = listed.at(-1)!
      expect([version, ...writes.map(([key]) => Buffer.from(key).toString())]).toEqual([12_000n, 'often', 'seldom'])
    })
    expect(cost).toBe(0)
  })

  it('reads those that are merged from segment files, and the others from the memtable', async () => {
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
