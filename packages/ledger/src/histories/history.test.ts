import { JsonNumber } from '@ledger-state/bcs'
import { ByteWriter, bytesToHex, isLedgerStateError, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine, type StateReader } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { writeModule } from '@ledger-state/move-module'
import { primaryStoreAddress } from '@ledger-state/proof'
import { overriding } from '@ledger-state/testing/overriding'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import {
  decodeStateKey,
  moduleKey,
  parseStructTag,
  resourceGroupKey,
  resourceKey,
  tableItemKey,
  writeStructTag,
} from '@ledger-state/type-tag'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseAsset } from '../assets/asset.js'
import {
  balanceHistory,
  listResources,
  rawTableItemHistory,
  readBalance,
  readResource,
  resourceHistory,
  tableItemHistory,
} from '../index.js'
import { createLedger } from '../state/create-ledger.js'
import { isUnreadable } from '../types/unreadable.js'
import type { Change, ChangeHistoryOptions, History } from './history.js'

const RUNS = { numRuns: isSlowRun ? 100 : 25 }
const OWNER = parseAddress('0xcafe')
const COIN = parseAsset('0x1::aptos_coin::AptosCoin')
const COIN_KEY = resourceKey(OWNER, parseStructTag('0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>'))
const STORE_KEY = resourceGroupKey(
  primaryStoreAddress(OWNER, parseAddress('0xa')),
  parseStructTag('0x1::object::ObjectGroup'),
)

function coinStore(value: bigint): Uint8Array {
  return new ByteWriter().u64(value).bytes(new Uint8Array(97)).toBytes()
}

/** A group with a fungible store, cut to a length, and a member that changes without the balance. */
function primaryStore(balance: bigint, noise: number, length?: number): Uint8Array {
  const group = new ByteWriter().uleb128(2)
  writeStructTag(group, parseStructTag('0x1::a::Noise'))
  group.byteString(Uint8Array.of(noise))
  writeStructTag(group, parseStructTag('0x1::fungible_asset::FungibleStore'))
  const store = new ByteWriter().bytes(OWNER).u64(balance).bool(false).toBytes()
  return group.byteString(store.subarray(0, length)).toBytes()
}

/** Values; now and then one that is too large for a sum. */
const value = fc.oneof({ weight: 5, arbitrary: fc.bigInt(0n, 3n) }, fc.constant(2n ** 64n - 1n))
/** Bytes; now and then cut short, so that they cannot be read. */
const maybeCut = (bytes: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> =>
  fc.tuple(bytes, fc.option(fc.integer({ min: 1, max: 12 }), { freq: 3, nil: undefined })).map(([whole, length]) => {
    return length === undefined ? whole : whole.subarray(0, length)
  })
const cutStore = fc.nat(40).map((length) => primaryStore(1n, 0, length))
const coinWrite = fc.option(maybeCut(value.map(coinStore)), { freq: 4 }).map((bytes): Write => [COIN_KEY, bytes])
const wholeStore = fc.tuple(value, fc.nat(3)).map(([balance, noise]) => primaryStore(balance, noise))
const storeWrite = fc
  .option(fc.oneof({ weight: 3, arbitrary: maybeCut(wholeStore) }, cutStore), { freq: 4 })
  .map((bytes): Write => [STORE_KEY, bytes])
/** Writes of a version to the coin store and the primary store; mostly none. */
const writesOfVersion: fc.Arbitrary<Write[]> = fc
  .tuple(fc.option(coinWrite, { freq: 1 }), fc.option(storeWrite, { freq: 1 }))
  .map((writes) => writes.filter((write) => write !== null))

async function engineOf(first: bigint, versions: readonly (readonly Write[])[]) {
  const engine = createMemoryEngine()
  for (const [at, writes] of versions.entries()) {
    const version = first + BigInt(at)
    // Blocks have three versions each.
    const block = at % 3 === 0 ? { height: BigInt(at), epoch: 0n, timestampUsec: BigInt(at) * 10n } : undefined
    await engine.commit([{ version, block, writes }], { chainId: 4 })
  }
  return engine
}

/** Result of a read or of an entry, as its caller sees it. */
function seen<T>(read: () => T): T | string {
  try {
    return read()
  } catch (error) {
    if (isUnreadable(error)) return `${error.code}: ${error.message}`
    throw error
  }
}

function seenOf<T>(change: Change<T>): T | string {
  return seen(() => {
    if (change.error) throw change.error
    return change.value
  })
}

/** Checks that a history agrees with reads at each version of the window, errors included. */
function expectSameAsReads<T>(
  history: History<Change<T>>,
  readAt: (version: bigint) => T,
  nothing: T,
  { oldestVersion, latestVersion }: { oldestVersion: bigint; latestVersion: bigint },
): void {
  const changes = [...history]
  let before: T | string = nothing
  for (let version = oldestVersion; version <= latestVersion; version++) {
    const read = seen(() => readAt(version))
    const newest = changes.find((change) => change.version <= version)
    expect(newest === undefined ? nothing : seenOf(newest)).toEqual(read)
    const isChange =
      version > oldestVersion && JSON.stringify([read], printBigint) !== JSON.stringify([before], printBigint)
    if (version > oldestVersion) expect(newest?.version === version).toBe(isChange)
    before = read
  }
  expect(changes.filter(({ version }) => version <= oldestVersion).length).toBeLessThanOrEqual(1)
}

function printBigint(_: string, one: unknown): unknown {
  return typeof one === 'bigint' ? String(one) : one
}

/** Lists all changes, in pages. */
function readInPages<T>(list: (options: ChangeHistoryOptions) => History<T>, options: ChangeHistoryOptions): T[] {
  const items: T[] = []
  let start: bigint | undefined
  do {
    const page: History<T> = list({ ...options, start })
    items.push(...page)
    start = page.cursor
  } while (start !== undefined)
  return items
}

const ledgers = fc.record({
  first: fc.constantFrom(0n, 5n),
  versions: fc.array(writesOfVersion, { minLength: 1, maxLength: 30 }),
  retained: fc.bigInt(1n, 40n),
})

describe('the history of a balance', () => {
  it('agrees with reads of the balance at each version of the window', async () => {
    await fc.assert(
      fc.asyncProperty(ledgers, async ({ first, versions, retained }) => {
        const engine = await engineOf(first, versions)
        await engine.prune(retained)
        const ledger = createLedger(engine)
        const balanceAt = (version: bigint) => readBalance(ledger.at(version), OWNER, COIN)
        expectSameAsReads(balanceHistory(ledger.at(), OWNER, COIN), balanceAt, 0n, ledger.info!)
      }),
      RUNS,
    )
  })

  it('is the same in pages of any size, in ascending order, and between any two versions', async () => {
    const version = fc.option(fc.bigInt(0n, 40n), { nil: undefined })
    const range = fc.record({ from: version, to: version, limit: fc.integer({ min: 1, max: 5 }) })
    await fc.assert(
      fc.asyncProperty(ledgers, range, async ({ first, versions, retained }, { from, to, limit }) => {
        const engine = await engineOf(first, versions)
        await engine.prune(retained)
        const state = createLedger(engine).at()
        const list = (options: ChangeHistoryOptions) => balanceHistory(state, OWNER, COIN, options)
        const all = [...list({})]
        const expected = all.filter((change) => change.version >= (from ?? 0n) && change.version <= (to ?? 100n))
        expect([...list({ from, to })]).toEqual(expected)
        expect([...list({ from, to, order: 'asc' })]).toEqual(expected.toReversed())
        expect(readInPages(list, { from, to, limit })).toEqual(expected)
        expect(readInPages(list, { from, to, isFull: () => true })).toEqual(expected)
        expect(readInPages(list, { from, to, limit, order: 'asc' })).toEqual(expected.toReversed())
      }),
      RUNS,
    )
  })

  it('ends a page after some megabytes of writes that changed nothing, and continues after them', async () => {
    const large = new Uint8Array(1 << 20)
    const key = tableItemKey(OWNER, Uint8Array.of(1))
    const writes = Array.from({ length: 30 }, (_, at): Write[] => [[key, at === 0 ? large.subarray(1) : large]])
    const state = createLedger(await engineOf(0n, writes)).at()
    for (const order of ['asc', 'desc'] as const) {
      const list = (options: ChangeHistoryOptions) =>
        rawTableItemHistory(state, OWNER, Uint8Array.of(1), { ...options, order })
      const page = list({})
      expect([...page].length).toBe(order === 'asc' ? 2 : 0)
      expect(page.cursor).toBe(order === 'asc' ? 6n : 25n)
      const versions: bigint[] = []
      let pages = 0
      for (let start: bigint | undefined, isFirst = true; isFirst || start !== undefined; isFirst = false, pages++) {
        const next = list({ start })
        for (const change of next) versions.push(change.version)
        start = next.cursor
      }
      expect(versions).toEqual(order === 'asc' ? [0n, 1n] : [1n, 0n])
      expect(pages).toBe(order === 'asc' ? 7 : 8)
    }
  })

  it('has the times of blocks, ends at the version of the state, and reports whether its beginning is known', async () => {
    const versions = [1n, 2n, 3n, 4n, 5n, 6n].map((balance): Write[] => [[COIN_KEY, coinStore(balance)]])
    const ledger = createLedger(await engineOf(0n, versions))
    const changesAt = (version: bigint) => balanceHistory(ledger.at(version), OWNER, COIN)
    expect(
      [...changesAt(3n)].map(({ version, timestampUsec, value: balance }) => [version, timestampUsec, balance]),
    ).toEqual([
      [3n, 30n, 4n],
      [2n, 0n, 3n],
      [1n, 0n, 2n],
      [0n, 0n, 1n],
    ])
    expect(changesAt(3n).complete).toBe(true)
    const later = await engineOf(5n, versions)
    expect(balanceHistory(createLedger(later).at(), OWNER, COIN).complete).toBe(false)
    const pruned = await engineOf(0n, versions)
    await pruned.prune(1n)
    const state = createLedger(pruned).at()
    expect(balanceHistory(state, OWNER, COIN).complete).toBe(true)
    expect(balanceHistory(state, OWNER, COIN, { from: 2n }).complete).toBe(false)
    expect([...balanceHistory(state, OWNER, COIN)].map(({ version }) => version)).toEqual([5n, 4n, 3n])
  })

  it('is refused if the pruner passed it, before or during a page or between two pages, never with a gap', async () => {
    const versions = Array.from({ length: 9 }, (_, at): Write[] => [[COIN_KEY, coinStore(BigInt(at))]])
    const pruned = expect.objectContaining({ code: 'version_pruned' })
    for (const order of ['desc', 'asc'] as const) {
      const engine = await engineOf(0n, versions)
      const ledger = createLedger(engine)
      const state = ledger.at()
      const items = balanceHistory(state, OWNER, COIN, { order })[Symbol.iterator]()
      const recent = balanceHistory(state, OWNER, COIN, { order, from: 7n })
      items.next()
      const page = balanceHistory(state, OWNER, COIN, { order, limit: order === 'desc' ? 6 : 3 })
      expect([...page]).toHaveLength(order === 'desc' ? 6 : 3)
      await engine.prune(3n)
      expect(() => {
        while (!items.next().done);
      }).toThrow(pruned)
      expect(() => [...balanceHistory(ledger.at(), OWNER, COIN, { order, start: page.cursor })]).toThrow(pruned)
      // Versions that the pruner has not reached are still listed.
      expect([...recent]).toHaveLength(2)
    }
  })

  it('is refused, not empty, if all that it would list was pruned', async () => {
    const versions: Write[][] = [[[COIN_KEY, coinStore(1n)]], [], [], [[COIN_KEY, null]], [], [], [], [], []]
    const engine = await engineOf(0n, versions)
    const state = createLedger(engine).at()
    await engine.prune(3n)
    const history = balanceHistory(state, OWNER, COIN)
    expect(() => [...history]).toThrow(expect.objectContaining({ code: 'version_pruned' }))
  })

  it('ends a page after a bounded number of writes that change nothing', async () => {
    const writes = Array.from({ length: 2_500 }, (_, at): Write[] => [[STORE_KEY, primaryStore(1n, at % 2)]])
    const state = createLedger(await engineOf(0n, writes)).at()
    const list = (options: ChangeHistoryOptions) => balanceHistory(state, OWNER, COIN, options)
    const page = list({ limit: 10 })
    expect([...page]).toEqual([])
    expect(page.cursor).toBe(499n)
    expect(readInPages(list, { limit: 10 })).toMatchObject([{ version: 0n, value: 1n }])
  })

  it('costs as much as the entries that it shows, at any depth', async () => {
    const depth = 1_000
    const writes = Array.from({ length: depth }, (_, at): Write[] => [[COIN_KEY, coinStore(BigInt(at))]])
    const engine = await engineOf(0n, writes)
    let taken = 0
    const counting = overriding<StateReader>(engine, {
      *history(...args) {
        for (const revision of engine.history(...args)) {
          taken++
          yield revision
        }
      },
    })
    const state = createLedger(counting).at()
    for (const order of ['desc', 'asc'] as const) {
      for (const start of [undefined, 500n]) {
        taken = 0
        expect([...balanceHistory(state, OWNER, COIN, { order, start, limit: 10 })]).toHaveLength(10)
        expect(taken).toBeLessThanOrEqual(13)
      }
    }
  })
})

it('a history continues after a change that cannot be read, in either order and in pages', async () => {
  const versions = [coinStore(1n), Uint8Array.of(7), coinStore(2n), Uint8Array.of(8), Uint8Array.of(9), coinStore(3n)]
  const engine = await engineOf(
    0n,
    versions.map((bytes): Write[] => [[COIN_KEY, bytes]]),
  )
  const state = createLedger(engine).at()
  const cut = 'invalid_bcs: the stored CoinStore at 0xcafe cannot be decoded: unexpected end of input at byte 1'
  // Versions 3 and 4 have the same value.
  const expected = [3n, cut, 2n, cut, 1n]
  expect([...balanceHistory(state, OWNER, COIN)].map(seenOf)).toEqual(expected)
  const list = (options: ChangeHistoryOptions) => balanceHistory(state, OWNER, COIN, options)
  expect(readInPages(list, { limit: 1 }).map(seenOf)).toEqual(expected)
  expect(readInPages(list, { limit: 2, order: 'asc' }).map(seenOf)).toEqual(expected.toReversed())
})

it('a history of a member continues after a group that cannot be read', async () => {
  const store = primaryStoreAddress(OWNER, parseAddress('0xa'))
  const groups = [primaryStore(1n, 0), Uint8Array.of(3), primaryStore(2n, 0)]
  const id = { address: parseAddress('0x1'), name: 'fungible_asset' }
  const fields = [
    { name: 'metadata', type: { kind: 'address' } },
    { name: 'balance', type: { kind: 'u64' } },
    { name: 'frozen', type: { kind: 'bool' } },
  ] as const
  const resourceGroup = parseStructTag('0x1::object::ObjectGroup')
  const structs = [
    { kind: 'struct', name: 'FungibleStore', abilities: 8, typeParameters: [], fields, resourceGroup },
  ] as const
  const module: Write = [moduleKey(id.address, id.name), writeModule({ version: 7, ...id, structs })]
  const engine = await engineOf(
    0n,
    groups.map((group, at): Write[] => [[STORE_KEY, group], ...(at === 0 ? [module] : [])]),
  )
  const ledger = createLedger(engine)
  const tag = parseStructTag('0x1::fungible_asset::FungibleStore')
  const readAt = (version: bigint) => seen(() => readResource(ledger.at(version), store, tag).toJson())
  const history = [...resourceHistory(ledger.at(), store, tag)]
  expect(history.map((change) => (change.error ? seenOf(change) : change.value?.toJson()))).toEqual(
    [2n, 1n, 0n].map(readAt),
  )
})

describe('the history of a table item', () => {
  it('agrees with reads of the item at each version of the window', async () => {
    const HANDLE = parseAddress('0x7ab1e')
    const key = tableItemKey(HANDLE, Uint8Array.of(1))
    const write = fc
      .option(
        fc.nat(2).map((byte) => Uint8Array.of(byte)),
        { freq: 3 },
      )
      .map((bytes): Write[] => [[key, bytes]])
    const history = fc.record({
      versions: fc.array(fc.oneof(write, fc.constant<Write[]>([])), { minLength: 1, maxLength: 20 }),
      retained: fc.bigInt(1n, 25n),
    })
    await fc.assert(
      fc.asyncProperty(history, async ({ versions, retained }) => {
        const engine = await engineOf(0n, versions)
        await engine.prune(retained)
        const ledger = createLedger(engine)
        const u8 = ledger.parseType('u8')
        const request = { handle: HANDLE, keyType: u8, valueType: u8, key: new JsonNumber('1') }
        const typed = tableItemHistory(ledger.at(), request)
        const raw = [...rawTableItemHistory(ledger.at(), HANDLE, Uint8Array.of(1))]
        expect([...typed].map((change) => ({ ...change, value: change.value?.toJson() }))).toEqual(
          raw.map((change) => ({ ...change, value: change.value && String(change.value[0]) })),
        )
        const bytesAt = (version: bigint) => engine.at(version).get(key)
        expectSameAsReads(rawTableItemHistory(ledger.at(), HANDLE, Uint8Array.of(1)), bytesAt, undefined, ledger.info!)
      }),
      RUNS,
    )
  })
})

describe.skipIf(!hasSharedData)('the history of a resource of the account fixture', () => {
  it('agrees with reads of the resource at each version of the window', async () => {
    const engine = createMemoryEngine()
    const source = await openSource(sharedPath('conformance/account-fixture.ndjson.gz'))
    for await (const record of source.versions()) await engine.commit([record], { chainId: source.chainId! })
    await engine.prune(301n)
    const ledger = createLedger(engine)
    const { oldestVersion, latestVersion } = ledger.info!
    const seen = new Map<string, { address: Uint8Array; text: string }>()
    for (let version = oldestVersion; version <= latestVersion; version += 10n) {
      for (const { key } of engine.at(version).scan(new Uint8Array(0))) {
        const decoded = decodeStateKey(key)
        if (!('address' in decoded)) continue
        for (const resource of listResources(ledger.at(version), decoded.address)) {
          const text = resource.typeText()
          seen.set(`${bytesToHex(decoded.address)} ${text}`, { address: decoded.address, text })
        }
      }
    }
    expect(seen.size).toBeGreaterThan(20)
    const jsonOf = (read: () => { toJson(): string } | undefined): string | undefined => {
      try {
        return read()?.toJson()
      } catch (error) {
        if (isLedgerStateError(error, 'resource_not_found')) return undefined
        if (isLedgerStateError(error, 'stored_data_invalid')) return error.code
        throw error
      }
    }
    for (const { address, text } of seen.values()) {
      if (text.includes('|')) continue
      const tag = parseStructTag(text)
      const history = [...resourceHistory(ledger.at(), address, tag)]
      for (const change of history) {
        const version = change.version < oldestVersion ? oldestVersion : change.version
        expect(jsonOf(() => change.value)).toBe(jsonOf(() => readResource(ledger.at(version), address, tag)))
      }
      for (let version = oldestVersion; version <= latestVersion; version += isSlowRun ? 7n : 49n) {
        const newest = history.find((change) => change.version <= version)
        const bytes = newest?.value?.bytes
        const read = jsonOf(() => {
          const resource = readResource(ledger.at(version), address, tag)
          expect(bytes && bytesToHex(bytes)).toBe(bytesToHex(resource.bytes))
          return resource
        })
        if (read === undefined) expect(bytes).toBeUndefined()
      }
    }
  })
})
