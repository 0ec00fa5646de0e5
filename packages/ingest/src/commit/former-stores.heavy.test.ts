// Activities of an owner that had many stores, few of them at once.
import { parseAddress } from '@ledger-state/core'
import { createMemoryEngine, type StateReader } from '@ledger-state/engine'
import { type ActivitiesOptions, type ActivityCursor, createLedger, type Ledger } from '@ledger-state/ledger'
import {
  ASSETS,
  type ExpectedActivity,
  HoldingsModel,
  OWNERS,
  tradedHoldings,
} from '@ledger-state/ledger/testing/random-holdings'
import { changedStoresKey, decodeChangedStores } from '@ledger-state/records'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { counted, pageOf } from '../../testing/listed-activities.js'
import { listedSource } from '../../testing/listed-source.js'
import { checkHoldings } from '../indexing/check-holdings.js'
import { ingestSource } from './ingest-source.js'

const seed = testSeed()
const OWNER = OWNERS[0]!
const PAGES = 8

describe('activities of an owner of many former stores', () => {
  const TRADES = 1_600
  const LAST = BigInt(TRADES - 1)
  const generated = tradedHoldings(createRandom(seed), TRADES)
  const expected = new HoldingsModel(generated).activities(OWNER, 0n, LAST)

  /** The first row of the list of changed stores. */
  function firstRowOf(engine: StateReader) {
    for (const { value } of engine.history(changedStoresKey(parseAddress(OWNER)), { order: 'asc' }))
      return decodeChangedStores(value!)
    return undefined
  }

  afterEach(() => vi.unstubAllEnvs())

  /** The first pages of a list. */
  function firstPages(ledger: Ledger, options: ActivitiesOptions, count: number): ExpectedActivity[] {
    const found: ExpectedActivity[] = []
    let start: ActivityCursor | undefined
    for (let page = 0; page < count; page++) {
      const { items, cursor } = pageOf(ledger, OWNER, LAST, { from: 0n, ...options, start })
      found.push(...items)
      start = cursor
      if (!start) break
    }
    return found
  }

  function expectPages(engine: StateReader): void {
    const ledger = createLedger(engine)
    for (const order of ['asc', 'desc'] as const) {
      const all = order === 'asc' ? expected : expected.toReversed()
      const context = `seed ${seed}, ${order}`
      for (const limit of [1, 7]) {
        const found = firstPages(ledger, { order, limit }, PAGES)
        expect(found, context).toEqual(all.slice(0, found.length))
        expect(found.length, context).toBe(PAGES * limit)
      }
      for (const limit of [1_000, undefined]) {
        expect(firstPages(ledger, { order, limit }, Number.POSITIVE_INFINITY), context).toEqual(all)
      }
      const asset = ledger.parseAsset(ASSETS[1]!)
      const ofOne = all.filter(({ assetType }) => assetType === ASSETS[1])
      expect(firstPages(ledger, { order, limit: 100, asset }, Number.POSITIVE_INFINITY), context).toEqual(ofOne)
    }
  }

  it('match a plain model, and a page looks at few of them, without a list', async () => {
    const engine = createMemoryEngine()
    // Each ingest has one commit, which counts no owner.
    for (let end = 100; end <= TRADES; end += 100)
      await ingestSource(engine, listedSource(generated.versions.slice(0, end)))
    expect(firstRowOf(engine)).toBeUndefined()
    expectPages(engine)
    const { reader, asked } = counted(engine)
    for (const order of ['asc', 'desc'] as const) {
      asked.clear()
      expect(pageOf(createLedger(reader), OWNER, LAST, { order, limit: 5 }).items).toHaveLength(5)
      expect(asked.size).toBeLessThan(400)
    }
  })

  it('match a plain model, and are listed once a commit has counted the former stores', async () => {
    vi.stubEnv('LEDGER_STATE_BATCH_VERSIONS', '100')
    const engine = createMemoryEngine()
    await ingestSource(engine, listedSource(generated.versions))
    const first = firstRowOf(engine)
    expect(first).toMatchObject({ hasEarlier: true })
    expect(first!.since).toBeLessThan((3n * LAST) / 4n)
    expectPages(engine)
    expect((await checkHoldings(engine, LAST))?.problems).toEqual([])
  })
})
