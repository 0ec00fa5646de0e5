// Activities of an owner of many stores: the index lists their writes since a commit.
import { isLedgerStateError, parseAddress, type VersionWrites, type Write } from '@ledger-state/core'
import { createMemoryEngine, engineToAsync, type StateReader, type StateWriter } from '@ledger-state/engine'
import { delayState } from '@ledger-state/engine/testing/delayed-state'
import {
  type ActivitiesOptions,
  type ActivityCursor,
  createAsyncLedger,
  createLedger,
  type Ledger,
  listActivities,
} from '@ledger-state/ledger'
import {
  ASSETS,
  type ExpectedActivity,
  type HoldingsLedger,
  HoldingsModel,
  OWNERS,
  randomHoldings,
} from '@ledger-state/ledger/testing/random-holdings'
import { addressIn, changedStoresKey, decodeChangedStores, holdingsPrefix, storeNameOf } from '@ledger-state/records'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { STATE_KEY_ADDRESS_AT, tableItemKey } from '@ledger-state/type-tag'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { counted, pageOf, toExpected } from '../../testing/listed-activities.js'
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
const NO_BYTES = new Uint8Array(0)

afterEach(() => {
  vi.unstubAllEnvs()
})

async function ingestParts(engine: StateWriter, { versions }: HoldingsLedger, random: Random): Promise<StateWriter> {
  const done = engine.ledger ? Number(engine.ledger.latestVersion) + 1 : 0
  for (let at = done; at < versions.length; ) {
    at += 1 + random.below(12)
    await ingestSource(engine, listedSource(versions.slice(0, at)))
  }
  return engine
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

/** The names of written stores, as a row has them. */
function namesOf(writes: readonly Write[]): number[] {
  return [...new Set(writes.map(([key]) => storeNameOf(addressIn(key))))].sort((a, b) => a - b)
}

/** A write of a store that the owner gets. */
function laterStore(number: number): Write {
  const { writes } = randomHoldings(createRandom(number), 1, 1).versions[0]!
  const [key, value] = writes[0]!
  const other = Uint8Array.from(key)
  new DataView(other.buffer).setUint32(1, 0x9000_0000 + number)
  return [other, value]
}

/** A write of a store of the owner with an address by which the owner is counted. */
function sampledStore(number: number): Write {
  const [key, value] = laterStore(2)
  const other = Uint8Array.from(key)
  new DataView(other.buffer).setUint32(STATE_KEY_ADDRESS_AT, 0x9000_0000 + number)
  other[STATE_KEY_ADDRESS_AT + ADDRESS.length - 1] = 0
  return [other, value]
}

function range(from: number, end: number): number[] {
  return Array.from({ length: end - from }, (_, at) => from + at)
}

function blockAt(version: number): VersionWrites['block'] {
  return { height: BigInt(version), epoch: 0n, timestampUsec: BigInt(version) }
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
      if (limit === 1) continue
      const one = random.pick(ASSETS)
      const asset = ledger.parseAsset(one)
      const ofOne = expected.filter(({ assetType }) => assetType === one)
      expect(allOf(ledger, owner, to, { from, order: 'asc', limit, asset }), context).toEqual(ofOne)
      expect(allOf(ledger, owner, to, { from, limit, asset }), context).toEqual(ofOne.toReversed())
    }
  }
}

describe('activities of an owner of many stores', () => {
  it('match a plain model, and the index lists the writes of its stores', async () => {
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
      for (let again = 0; again < 2; again++) compare(engine, model, random)
      for (const owner of OWNERS.slice(1)) {
        expect([...engine.history(changedStoresKey(parseAddress(owner)))]).toEqual([])
      }
      expect((await checkHoldings(engine, LATEST))?.problems).toEqual([])
    }
  })

  it('match a plain model after many commits of one ingest, which remembers the stores', async () => {
    const random = createRandom(seed)
    for (let round = 0; round < rounds; round++) {
      const generated = randomHoldings(random, COUNT, CROWD)
      const model = new HoldingsModel(generated)
      const engine = createMemoryEngine()
      vi.stubEnv('LEDGER_STATE_BATCH_VERSIONS', String(1 + random.below(4)))
      await ingestSource(engine, listedSource(generated.versions))
      expect(rowsOf(engine).length).toBeGreaterThan(0)
      for (let again = 0; again < 2; again++) compare(engine, model, random)
      expect((await checkHoldings(engine, LATEST))?.problems).toEqual([])
    }
  })

  it('are read without a look at stores that did not change', async () => {
    // A fixed ledger, whose list begins before the range of the pages.
    const random = createRandom(1)
    const generated = randomHoldings(random, COUNT, CROWD)
    const engine = await ingestParts(createMemoryEngine(), generated, random)
    const { reader, asked } = counted(engine)
    const ledger = createLedger(reader)
    for (const asset of [undefined, ledger.parseAsset(ASSETS[0]!)]) {
      for (const order of ['asc', 'desc'] as const) {
        asked.clear()
        const from = LATEST - 20n
        const { items } = pageOf(ledger, OWNER, LATEST, { order, limit: 5, from, asset })
        expect(items.length).toBeGreaterThan(0)
        expect(asked.size).toBeLessThan(CROWD / 4)
      }
    }
  })

  it.each([
    ['one commit', [60]],
    ['commits, of which the first makes it an owner of many with its only version', [1, 60]],
  ])('before the list begins are read without a look at later stores: after %s', async (_, ends) => {
    const random = createRandom(seed)
    const generated = randomHoldings(random, COUNT, CROWD)
    const model = new HoldingsModel(generated)
    const at = LATEST + 1n
    // No page of an earlier version reads a row of the 3,000 later stores.
    const later = Array.from({ length: 3_000 }, (_, number) => laterStore(number))
    const grown = { version: at, block: undefined, writes: later }
    const engine = createMemoryEngine()
    for (const end of ends) await ingestSource(engine, listedSource(generated.versions.slice(0, end)))
    await ingestSource(engine, listedSource([...generated.versions, grown]))
    const [first] = rowsOf(engine)
    expect(first).toMatchObject({ since: 1n, version: 1n, hasEarlier: true })
    expect(first!.names.length).toBeGreaterThanOrEqual(512)
    const { reader, scanned } = counted(engine)
    const ledger = createLedger(reader)
    for (const order of ['asc', 'desc'] as const) {
      for (const to of [0n, first!.since - 1n, first!.since, LATEST]) {
        scanned.clear()
        const expected = model.activities(OWNER, 0n, to)
        const { items } = pageOf(ledger, OWNER, to, { order, limit: 5, from: 0n })
        expect(items, `seed ${seed}, ${order} to ${to}`).toEqual(
          (order === 'asc' ? expected : expected.toReversed()).slice(0, items.length),
        )
        expect(items).toHaveLength(5)
        const all = Buffer.from(holdingsPrefix('ownedStore', ADDRESS)).toString('hex')
        expect(scanned).not.toContain(all)
        expect([...scanned].some((prefix) => prefix.startsWith(all))).toBe(true)
      }
    }
  })

  it('are listed from within a commit, with the stores that the owner had before it', async () => {
    const [{ writes }] = randomHoldings(createRandom(2), 1, 1_190).versions as [VersionWrites]
    const stores = writes.slice(0, 1_190)
    // 60 stores at version 0, 50 at each of the next three, and then ten at each.
    const ends = [60, 110, 160, ...Array.from({ length: 98 }, (_, at) => 210 + 10 * at)]
    const versions = ends.map((end, at): VersionWrites => {
      const block = at === 0 ? { height: 0n, epoch: 0n, timestampUsec: 0n } : undefined
      return { version: BigInt(at), block, writes: stores.slice(ends[at - 1] ?? 0, end) }
    })
    const engine = createMemoryEngine()
    await ingestSource(engine, listedSource(versions.slice(0, 1)))
    await ingestSource(engine, listedSource(versions))
    const [first, second] = rowsOf(engine)
    expect(first).toMatchObject({ since: 4n, version: 4n, hasEarlier: true })
    expect(first!.names).toEqual(namesOf(stores.slice(0, 220)))
    expect(second).toMatchObject({ since: 4n, version: 5n })
    expect(second!.hasEarlier).toBeUndefined()
    const { reader, asked } = counted(engine)
    const { items } = pageOf(createLedger(reader), OWNER, 100n, { order: 'asc', limit: 40, from: 50n })
    expect(items).toHaveLength(40)
    expect(asked.size).toBeLessThan(150)
    const other = createMemoryEngine()
    for (const end of [50, 101]) await ingestSource(other, listedSource(versions.slice(0, end)))
    const list = (of: StateReader, order: 'asc' | 'desc') =>
      allOf(createLedger(of), OWNER, 100n, { order, from: 0n, limit: 100 })
    expect(list(engine, 'asc').length).toBeGreaterThan(900)
    for (const of of [engine, other]) {
      expect(list(of, 'asc')).toEqual(list(engine, 'asc'))
      expect(list(of, 'desc')).toEqual(list(engine, 'asc').toReversed())
    }
    expect((await checkHoldings(engine, 100n))?.problems).toEqual([])
  })

  it('are listed although the owner had few when a commit counted them', async () => {
    const engine = createMemoryEngine()
    const versions = [range(0, 100), range(0, 1), range(100, 140), range(0, 1), range(0, 1)].map(
      (numbers, at): VersionWrites => ({ version: BigInt(at), block: blockAt(at), writes: numbers.map(sampledStore) }),
    )
    vi.stubEnv('LEDGER_STATE_BATCH_VERSIONS', '1')
    await ingestSource(engine, listedSource(versions))
    expect(rowsOf(engine)[0]).toMatchObject({ since: 3n, version: 3n, hasEarlier: true })
    expect((await checkHoldings(engine, 4n))?.problems).toEqual([])
  })

  it('are counted by the next small commit, by one of several large ones, or if many owners wait', async () => {
    const filler = (version: number) =>
      range(0, 1_000).map((at): Write => [tableItemKey(ADDRESS, Uint8Array.of(version, at & 255, at >> 8)), NO_BYTES])
    /** Stores of 64 other owners. */
    const ofOthers = (storesOfOne: number) =>
      range(0, 64 * storesOfOne).map((number): Write => {
        const [key, value] = sampledStore(1_000 + number)
        const other = Uint8Array.from(value!)
        other.set(Uint8Array.of(0x77, number % 64), Buffer.from(other).indexOf(ADDRESS))
        return [key, other]
      })
    const stores = [range(0, 100), range(100, 180), [0], [0]].map((numbers) => numbers.map(sampledStore))
    const large = [...stores, ...range(4, 20).map(() => [])].map((writes, at) => [...writes, ...filler(at)])
    const ledgers: (readonly [number, Write[][]])[] = [
      [15, large],
      [4, large.toSpliced(4, 1, [])],
      [4, large.toSpliced(4, 1, [...ofOthers(2), ...filler(4)])],
      // Owners with one such store do not wait.
      [15, large.toSpliced(4, 1, [...ofOthers(1), ...filler(4)])],
    ]
    vi.stubEnv('LEDGER_STATE_BATCH_VERSIONS', '1')
    for (const [listed, ledger] of ledgers) {
      const engine = createMemoryEngine()
      const versions = ledger.map((writes, at): VersionWrites => ({ version: BigInt(at), block: blockAt(at), writes }))
      await ingestSource(engine, listedSource(versions))
      expect(rowsOf(engine).map(({ version }) => version)).toEqual([BigInt(listed)])
      expect((await checkHoldings(engine, 19n))?.problems).toEqual([])
    }
  })

  it('are not listed if few stores change owners often within a commit', async () => {
    const [key, value] = laterStore(2)
    const other = Uint8Array.from(value!)
    const at = Buffer.from(other).indexOf(ADDRESS)
    other.set(parseAddress(OWNERS[1]!), at)
    const versions = Array.from({ length: 1_200 }, (_, version): VersionWrites => {
      const block = version === 0 ? { height: 0n, epoch: 0n, timestampUsec: 0n } : undefined
      return { version: BigInt(version), block, writes: [[key, version % 2 === 0 ? value : other]] }
    })
    const engine = createMemoryEngine()
    await ingestSource(engine, listedSource(versions))
    for (const owner of OWNERS.slice(0, 2)) {
      expect([...engine.history(changedStoresKey(parseAddress(owner)))]).toEqual([])
    }
    expect(at).toBeGreaterThan(0)
    expect((await checkHoldings(engine, 1_199n))?.problems).toEqual([])
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
