// Reads of the index of holdings by `ledger`, compared with a plain model of random ledgers.
import { addressToLongHex, atOnce, isLedgerStateError, parseAddress } from '@ledger-state/core'
import { createMemoryEngine, engineToAsync, type StateWriter } from '@ledger-state/engine'
import { delayState } from '@ledger-state/engine/testing/delayed-state'
import {
  type Activity,
  type ActivityCursor,
  createAsyncLedger,
  createLedger,
  type HeldAsset,
  type Holding,
  type HoldingsPage,
  type Ledger,
  type LedgerState,
  listActivities,
  listBalances,
  listHolders,
  listLargestHolders,
  listOwnedObjects,
  listTokens,
} from '@ledger-state/ledger'
import {
  ASSETS,
  COINS,
  COLLECTIONS,
  type ExpectedActivity,
  type ExpectedHolding,
  type HoldingsLedger,
  HoldingsModel,
  OWNERS,
  randomHoldings,
} from '@ledger-state/ledger/testing/random-holdings'
import { parseSliceSpec } from '@ledger-state/slices'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { typeTagToText } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { listedSource } from '../../testing/listed-source.js'
import { ingestSource } from './ingest-source.js'

const STORE = '0x1::fungible_asset::FungibleStore'
/** Members that the generator adds without intent: a concurrent balance, or a store that does not decode. */
const MAYBE_ADDED = ['0x1::fungible_asset::ConcurrentFungibleBalance', STORE]
const seed = testSeed()
const COUNT = 40
const LATEST = BigInt(COUNT - 1)
const rounds = scaledRounds(6)
const PAGES = [1, 7, 1_000]

async function ingested({ versions }: HoldingsLedger): Promise<StateWriter> {
  const engine = createMemoryEngine()
  await ingestSource(engine, listedSource(versions))
  return engine
}

const assetText = (asset: HeldAsset): string =>
  asset.standard === 'v1' ? typeTagToText(asset.coin) : addressToLongHex(asset.metadata)

function toExpected({ asset, owner, storage, version, ...rest }: Holding): ExpectedHolding {
  return {
    assetType: assetText(asset),
    owner: addressToLongHex(owner),
    storage: addressToLongHex(storage),
    version,
    ...rest,
  }
}

function toActivity({ version, asset, storage, before, after }: Activity): ExpectedActivity {
  return { version, assetType: assetText(asset), storage: addressToLongHex(storage), before, after }
}

/** All items of a list that is read in pages. */
function allOf<T>(limit: number, list: (start: Uint8Array | undefined) => HoldingsPage<T>): T[] {
  const found: T[] = []
  for (let start: Uint8Array | undefined, pages = 0; ; pages++) {
    const page = list(start)
    const items = [...page].filter((item) => item !== undefined)
    expect(items.length).toBeLessThanOrEqual(limit)
    found.push(...items)
    if (!page.cursor) return found
    expect(pages).toBeLessThan(1_000)
    start = page.cursor
  }
}

interface Asked {
  readonly from?: bigint
  readonly order?: 'asc' | 'desc'
  readonly assetType?: string
}

function allActivities(ledger: Ledger, owner: string, to: bigint, limit: number, asked: Asked): ExpectedActivity[] {
  const { assetType, ...options } = asked
  const asset = assetType === undefined ? undefined : ledger.parseAsset(assetType)
  const found: ExpectedActivity[] = []
  for (let start: ActivityCursor | undefined; ; ) {
    const page = listActivities(ledger.at(to), parseAddress(owner), { ...options, asset, limit, start })
    const items = [...page].filter((item) => item !== undefined)
    expect(items.length).toBeLessThanOrEqual(limit)
    found.push(...items.map(toActivity))
    if (!page.cursor) return found
    start = page.cursor
  }
}

function compareLists(state: LedgerState, ledger: Ledger, model: HoldingsModel, random: Random): void {
  const limit = random.pick(PAGES)
  const { version } = state
  for (const owner of [...OWNERS, addressToLongHex(parseAddress('0x77'))]) {
    const address = parseAddress(owner)
    const expected = model.balances(owner, version)
    const balances = (options: object) =>
      allOf(limit, (start) => listBalances(state, address, { ...options, start, limit })).map(toExpected)
    expect(balances({})).toEqual(expected)
    expect(balances({ isNonzero: true })).toEqual(expected.filter(({ amount }) => amount > 0n))
    const one = random.pick([...ASSETS, ...COINS])
    expect(balances({ asset: ledger.parseAsset(one) })).toEqual(expected.filter(({ assetType }) => assetType === one))
    const objects = allOf(limit, (start) => listOwnedObjects(state, address, { start, limit }))
    const owned = model.objects(version).filter(({ is }) => is.owner === owner)
    expect(
      objects.map((object) => [addressToLongHex(object.address), object.allowsUngatedTransfer, object.version]),
    ).toEqual(owned.map(({ at, is, written }) => [at, is.isUngated, written]))
    for (const [at, { resources }] of objects.entries()) {
      const { collection, types } = owned[at]!.is
      const rest = resources.filter((type) => !MAYBE_ADDED.includes(type))
      const known = collection ? ['0x4::token::Token'] : []
      expect(rest.toSorted()).toEqual(['0x1::object::ObjectCore', ...known, ...types].sort())
      expect(new Set(resources).size).toBe(resources.length)
    }
  }
  for (const text of [...ASSETS, ...COINS, addressToLongHex(parseAddress('0x77'))]) {
    const asset = ledger.parseAsset(text)
    const expected = model.holders(text, version)
    expect(allOf(limit, (start) => listHolders(state, asset, { start, limit })).map(toExpected)).toEqual(expected)
    const largest = allOf(limit, (start) => listLargestHolders(state, asset, { start, limit })).map(toExpected)
    expect(largest).toEqual(
      expected.toSorted((a, b) =>
        a.amount === b.amount ? (a.storage < b.storage ? -1 : 1) : a.amount > b.amount ? -1 : 1,
      ),
    )
  }
  for (const collection of COLLECTIONS) {
    const tokens = allOf(limit, (start) => listTokens(state, parseAddress(collection), { start, limit }))
    expect(
      tokens.map((token) => [addressToLongHex(token.address), addressToLongHex(token.owner), token.version]),
    ).toEqual(
      model
        .objects(version)
        .flatMap(({ at, is, written }) => (is.collection === collection ? [[at, is.owner, written]] : [])),
    )
  }
}

function compareActivities(ledger: Ledger, model: HoldingsModel, random: Random, oldest: bigint): void {
  const known = oldest === 0n ? 0n : oldest + 1n
  for (const owner of OWNERS) {
    const [a, b] = [BigInt(random.below(COUNT)), BigInt(random.below(COUNT))]
    const to = [a, b, oldest].reduce((x, y) => (x > y ? x : y))
    const from = a < b ? a : b
    const expected = model.activities(owner, from > known ? from : known, to)
    const one = random.pick([...ASSETS, ...COINS])
    const ofOne = expected.filter(({ assetType }) => assetType === one)
    for (const limit of PAGES) {
      expect(allActivities(ledger, owner, to, limit, { from, order: 'asc' }), `${owner} ${from} ${to}`).toEqual(
        expected,
      )
      expect(allActivities(ledger, owner, to, limit, { from })).toEqual(expected.toReversed())
      expect(allActivities(ledger, owner, to, limit, { from, order: 'asc', assetType: one })).toEqual(ofOne)
      expect(allActivities(ledger, owner, to, limit, { from, assetType: one })).toEqual(ofOne.toReversed())
    }
  }
}

describe('holdings', () => {
  it('match a plain model at every version, in pages of any size', async () => {
    const random = createRandom(seed)
    for (let round = 0; round < rounds; round++) {
      const generated = randomHoldings(random, COUNT)
      const ledger = createLedger(await ingested(generated))
      const model = new HoldingsModel(generated)
      for (let at = 0; at < 6; at++) compareLists(ledger.at(BigInt(random.below(COUNT))), ledger, model, random)
      compareActivities(ledger, model, random, 0n)
    }
  }, 60_000)

  it('change by the sums of their activities, between any two versions', async () => {
    const random = createRandom(seed)
    for (let round = 0; round < rounds; round++) {
      const ledger = createLedger(await ingested(randomHoldings(random, COUNT)))
      for (const owner of OWNERS) {
        const [a, b] = [random.below(COUNT), random.below(COUNT)].sort((x, y) => x - y).map(BigInt)
        const sums = new Map<string, bigint>()
        const add = (asset: HeldAsset, amount: bigint): void => {
          sums.set(assetText(asset), (sums.get(assetText(asset)) ?? 0n) + amount)
        }
        for (const holding of listBalances(ledger.at(b), parseAddress(owner)))
          if (holding) add(holding.asset, holding.amount)
        for (const holding of listBalances(ledger.at(a), parseAddress(owner)))
          if (holding) add(holding.asset, -holding.amount)
        for (const change of listActivities(ledger.at(b), parseAddress(owner), { from: a! + 1n })) {
          if (change) add(change.asset, change.before - change.after)
        }
        expect(
          [...sums.values()].filter((sum) => sum !== 0n),
          `seed ${seed}, ${owner} (${a}, ${b}]`,
        ).toEqual([])
      }
    }
  })

  it('are the same within a window that was pruned, and after the ledger has grown', async () => {
    const random = createRandom(seed)
    for (let round = 0; round < rounds; round++) {
      const generated = randomHoldings(random, COUNT)
      const model = new HoldingsModel(generated)
      const engine = createMemoryEngine()
      await ingestSource(engine, listedSource(generated.versions.slice(0, 30)))
      await engine.prune(BigInt(1 + random.below(25)))
      await ingestSource(engine, listedSource(generated.versions))
      const ledger = createLedger(engine)
      const { oldestVersion } = engine.ledger!
      compareLists(ledger.at(oldestVersion), ledger, model, random)
      compareLists(ledger.at(), ledger, model, random)
      compareActivities(ledger, model, random, oldestVersion)
    }
  })

  it('are never wrong if a prune or a truncation comes between two pages', async () => {
    const random = createRandom(seed)
    for (let round = 0; round < 4 * rounds; round++) {
      const generated = randomHoldings(random, COUNT)
      const model = new HoldingsModel(generated)
      const engine = await ingested(generated)
      const ledger = createLedger(engine)
      const owner = random.pick(OWNERS)
      const order = random.pick(['asc', 'desc'] as const)
      const state = ledger.at()
      const page = listActivities(state, parseAddress(owner), { order, limit: 3 })
      const seen: ExpectedActivity[] = []
      const isPruned = random.below(2) === 0
      const retained = BigInt(1 + random.below(COUNT))
      const cut = BigInt(random.below(COUNT))
      const interrupt = () => (isPruned ? engine.prune(retained) : engine.truncateTo(cut))
      const expected = model.activities(owner, 0n, LATEST)
      if (order === 'desc') expected.reverse()
      try {
        const isWithin = random.below(2) === 0
        let count = 0
        for (const item of page) {
          if (item) seen.push(toActivity(item))
          if (isWithin && count++ === 2) await interrupt()
        }
        if (!isWithin) await interrupt()
        if (page.cursor) {
          const next = listActivities(ledger.at(), parseAddress(owner), { order, start: page.cursor })
          for (const item of next) if (item) seen.push(toActivity(item))
        }
      } catch (error) {
        if (!isLedgerStateError(error, 'version_pruned', 'version_truncated')) throw error
        continue
      }
      const { oldestVersion, latestVersion } = engine.ledger!
      // The omitted ones were cut off, or are below the window.
      const left = expected.filter(
        (one) => !seen.some((other) => JSON.stringify(texts(one)) === JSON.stringify(texts(other))),
      )
      expect(left.filter(({ version }) => version > oldestVersion && version <= latestVersion)).toEqual([])
      expect(seen).toEqual(expected.filter((one) => !left.includes(one)))
    }
  })

  it('are the same over an engine whose reads are promises', async () => {
    const random = createRandom(seed)
    const generated = randomHoldings(random, COUNT)
    const engine = await ingested(generated)
    const ledger = createLedger(engine)
    const asynchronous = createAsyncLedger(delayState(engineToAsync(engine), { random: createRandom(1) }))
    for (const owner of OWNERS) {
      const read = (from: Ledger) => {
        const state = from.at(30n)
        const address = parseAddress(owner)
        return {
          balances: [...listBalances(state, address)],
          objects: Array.from(listOwnedObjects(state, address, { limit: 2 }), (object) => ({
            ...object,
            resourcesInSteps: object && atOnce(object.resourcesInSteps()),
          })),
          holders: [...listLargestHolders(state, from.parseAsset(ASSETS[0]!))].filter((item) => item !== undefined),
          activities: [...listActivities(state, address, { limit: 20 })].filter((item) => item !== undefined),
          oldest: [...listActivities(state, address, { limit: 20, order: 'asc', from: 5n })].filter(
            (item) => item !== undefined,
          ),
        }
      }
      expect(await asynchronous.read(read)).toEqual(read(ledger))
      expect(await asynchronous.read(read)).toEqual(read(ledger))
    }
  })

  it('of a slice are known for accounts that it keeps, and for assets if it keeps all their stores', async () => {
    const generated = randomHoldings(createRandom(seed), COUNT)
    const model = new HoldingsModel(generated)
    const [kept, other] = [OWNERS[1]!, OWNERS[2]!]
    const engine = createMemoryEngine()
    const spec = parseSliceSpec({ accounts: [kept], types: ['0x1::coin::CoinStore'] })
    await ingestSource(engine, listedSource(generated.versions), { only: { spec } })
    const ledger = createLedger(engine)
    for (let version = 0n; version <= LATEST; version += 7n) {
      const state = ledger.at(version)
      const balances = [...listBalances(state, parseAddress(kept))].filter((item) => item !== undefined)
      expect(balances.map(toExpected)).toEqual(model.balances(kept, version))
      const unknown = expect.objectContaining({ code: 'version_pruned' })
      expect(() => listBalances(state, parseAddress(other))).toThrow(unknown)
      expect(() => listOwnedObjects(state, parseAddress(other))).toThrow(unknown)
      expect(() => listActivities(state, parseAddress(other))).toThrow(unknown)
      expect(() => listTokens(state, parseAddress(COLLECTIONS[0]!))).toThrow(unknown)
      expect(() => listHolders(state, ledger.parseAsset(ASSETS[0]!))).toThrow(unknown)
      const holders = [...listHolders(state, ledger.parseAsset(COINS[0]!))].filter((item) => item !== undefined)
      expect(holders.map(toExpected)).toEqual(model.holders(COINS[0]!, version))
    }
    expect(allActivities(ledger, kept, LATEST, 7, { order: 'asc' })).toEqual(model.activities(kept, 0n, LATEST))
  })

  it('are refused where the store has no index', async () => {
    const engine = createMemoryEngine()
    const { versions } = randomHoldings(createRandom(seed), 5)
    await ingestSource(engine, listedSource(versions), { holdings: false })
    const state = createLedger(engine).at()
    const owner = parseAddress(OWNERS[0]!)
    const refused = expect.objectContaining({
      code: 'holdings_not_indexed',
      message: expect.stringContaining('`ledger-state'),
    })
    for (const list of [listBalances, listOwnedObjects, listActivities, listTokens]) {
      expect(() => list(state, owner)).toThrow(refused)
    }
    expect(() => listHolders(state, { kind: 'fungibleAsset', metadata: owner })).toThrow(refused)
  })
})

function texts(value: object): [string, string][] {
  return Object.entries(value).map(([name, content]) => [name, String(content)])
}
