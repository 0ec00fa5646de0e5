// Activities of an owner of many stores: the index lists the writes of these, from a commit on.
import { addressToLongHex, isLedgerStateError, parseAddress } from '@ledger-state/core'
import { createMemoryEngine, engineToAsync, type StateReader, type StateWriter } from '@ledger-state/engine'
import { delayState } from '@ledger-state/engine/testing/delayed-state'
import {
  type ActivitiesOptions,
  type Activity,
  type ActivityCursor,
  createAsyncLedger,
  createLedger,
  type Ledger,
  listActivities,
} from '@ledger-state/ledger'
import {
  type ExpectedActivity,
  type HoldingsLedger,
  HoldingsModel,
  OWNERS,
  randomHoldings,
} from '@ledger-state/ledger/testing/random-holdings'
import { changedStoresKey, decodeChangedStores } from '@ledger-state/records'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { typeTagToText } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { listedSource } from '../../testing/listed-source.js'
import { checkHoldings } from '../indexing/check-holdings.js'
import { ingestSource } from './ingest-source.js'

const seed = testSeed()
const rounds = scaledRounds(3)
const COUNT = 60
const LATEST = BigInt(COUNT - 1)
const CROWD = 560
const OWNER = OWNERS[0]!
const ADDRESS = parseAddress(OWNER)

async function ingestParts(engine: StateWriter, { versions }: HoldingsLedger, random: Random): Promise<StateWriter> {
  const done = engine.ledger ? Number(engine.ledger.latestVersion) + 1 : 0
  for (let at = done; at < versions.length; ) {
    at += 1 + random.below(12)
    await ingestSource(engine, listedSource(versions.slice(0, at)))
  }
  return engine
}

function toExpected({ version, asset, storage, before, after }: Activity): ExpectedActivity {
  const assetType = asset.standard === 'v1' ? typeTagToText(asset.coin) : addressToLongHex(asset.metadata)
  return { version, assetType, storage: addressToLongHex(storage), before, after }
}

function pageOf(ledger: Ledger, owner: string, to: bigint, options: ActivitiesOptions) {
  const page = listActivities(ledger.at(to), parseAddress(owner), options)
  return { items: [...page].filter((item) => item !== undefined).map(toExpected), cursor: page.cursor }
}

function allOf(ledger: Ledger, owner: string, to: bigint, options: ActivitiesOptions): ExpectedActivity[] {
  const found: ExpectedActivity[] = []
  let start: ActivityCursor | undefined
  do {
    const { items, cursor } = pageOf(ledger, owner, to, { ...options, start })
    found.push(...items)
    start = cursor
  } while (start)
  return found
}

/** The rows of the owner, the oldest first. */
function rowsOf(engine: StateReader) {
  return [...engine.history(changedStoresKey(ADDRESS), { order: 'asc' })].map(({ version, value }) => {
    return { version, ...decodeChangedStores(value!) }
  })
}

function compare(engine: StateReader, model: HoldingsModel, random: Random): void {
  const ledger = createLedger(engine)
  const { oldestVersion, latestVersion } = engine.ledger!
  const known = oldestVersion === 0n ? 0n : oldestVersion + 1n
  const versionFrom = (least: bigint): bigint => least + BigInt(random.below(Number(latestVersion - least) + 1))
  for (const owner of OWNERS.slice(0, 3)) {
    for (const limit of [1, 7, 1_000]) {
      const from = versionFrom(oldestVersion)
      const to = versionFrom(from)
      const expected = model.activities(owner, from > known ? from : known, to)
      const context = `seed ${seed}, ${owner}, ${limit} from ${from} to ${to}`
      // Pages of one item of version 0 with hundreds of changes are not read to their end.
      if (limit < 1_000 && expected.length > 200) continue
      expect(allOf(ledger, owner, to, { from, order: 'asc', limit }), context).toEqual(expected)
      expect(allOf(ledger, owner, to, { from, limit }), context).toEqual(expected.toReversed())
    }
  }
}

describe('activities of an owner of many stores', () => {
  it('are those of a plain model, and the index lists the writes of its stores', async () => {
    const random = createRandom(seed)
    for (let round = 0; round < rounds; round++) {
      const generated = randomHoldings(random, COUNT, CROWD)
      const model = new HoldingsModel(generated)
      const engine = await ingestParts(createMemoryEngine(), generated, random)
      const rows = rowsOf(engine)
      expect(rows.length).toBeGreaterThan(0)
      const [{ since, version } = { since: 0n, version: 0n }] = rows
      expect(new Set(rows.map((row) => row.since))).toEqual(new Set([since]))
      expect(since).toBeGreaterThan(0n)
      expect(since).toBeLessThanOrEqual(version)
      for (let again = 0; again < 4; again++) compare(engine, model, random)
      for (const owner of OWNERS.slice(1)) {
        expect([...engine.history(changedStoresKey(parseAddress(owner)))]).toEqual([])
      }
      expect((await checkHoldings(engine, LATEST))?.problems).toEqual([])
    }
  })

  it('are read without a look at stores that did not change', async () => {
    const random = createRandom(seed)
    const generated = randomHoldings(random, COUNT, CROWD)
    const engine = await ingestParts(createMemoryEngine(), generated, random)
    const asked = new Set<string>()
    const counting = {
      ...(engine as StateReader),
      get ledger() {
        return engine.ledger
      },
      get base() {
        return engine.base
      },
      at: (version?: bigint) => engine.at(version),
      blockAt: (version: bigint) => engine.blockAt(version),
      history(key: Uint8Array, options = {}) {
        asked.add(Buffer.from(key).toString('hex'))
        return engine.history(key, options)
      },
    } as StateReader
    for (const order of ['asc', 'desc'] as const) {
      asked.clear()
      const from = LATEST - 20n
      const { items } = pageOf(createLedger(counting), OWNER, LATEST, { order, limit: 10, from })
      expect(items.length).toBeGreaterThan(0)
      expect(asked.size).toBeLessThan(CROWD / 4)
    }
  })

  it('are the same within a pruned window, after a truncation, and after the ledger has grown', async () => {
    const random = createRandom(seed)
    for (let round = 0; round < rounds; round++) {
      const generated = randomHoldings(random, COUNT, CROWD)
      const model = new HoldingsModel(generated)
      const half = { ...generated, versions: generated.versions.slice(0, 40) }
      const engine = await ingestParts(createMemoryEngine(), half, random)
      await engine.prune(BigInt(20 + random.below(15)))
      compare(engine, model, random)
      const { oldestVersion } = engine.ledger!
      await engine.truncateTo(oldestVersion + BigInt(random.below(Number(39n - oldestVersion))))
      compare(engine, model, random)
      await ingestParts(engine, generated, random)
      compare(engine, model, random)
      await engine.prune(BigInt(1 + random.below(30)))
      compare(engine, model, random)
    }
  })

  it('are never wrong if a prune or a truncation comes in the middle of a page', async () => {
    const random = createRandom(seed)
    for (let round = 0; round < 2 * rounds; round++) {
      const generated = randomHoldings(random, COUNT, CROWD)
      const engine = await ingestParts(createMemoryEngine(), generated, random)
      const first = 1n
      const expected = new HoldingsModel(generated).activities(OWNER, first, LATEST)
      const order = random.pick(['asc', 'desc'] as const)
      if (order === 'desc') expected.reverse()
      const page = listActivities(createLedger(engine).at(), ADDRESS, { order, from: first })
      const seen: ExpectedActivity[] = []
      const stop = random.below(20)
      try {
        for (const item of page) {
          if (item) seen.push(toExpected(item))
          if (seen.length === stop) {
            if (random.below(2) === 0) await engine.prune(BigInt(1 + random.below(COUNT)))
            else await engine.truncateTo(BigInt(random.below(COUNT)))
          }
        }
      } catch (error) {
        if (!isLedgerStateError(error, 'version_pruned', 'version_truncated')) throw error
        expect(seen).toEqual(expected.slice(0, seen.length))
        continue
      }
      expect(seen).toEqual(expected)
    }
  })

  it('are the same over an engine whose reads are promises', async () => {
    const random = createRandom(seed)
    const engine = await ingestParts(createMemoryEngine(), randomHoldings(random, COUNT, CROWD), random)
    const ledger = createLedger(engine)
    const asynchronous = createAsyncLedger(delayState(engineToAsync(engine), { random: createRandom(1) }))
    for (const order of ['asc', 'desc'] as const) {
      const read = (from: Ledger) => pageOf(from, OWNER, LATEST - 3n, { order, from: 10n, limit: 30 })
      expect(await asynchronous.read(read)).toEqual(read(ledger))
      expect(await asynchronous.read(read)).toEqual(read(ledger))
    }
  })
})
