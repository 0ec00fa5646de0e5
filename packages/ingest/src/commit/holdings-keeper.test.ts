import { bytesToHex } from '@ledger-state/core'
import {
  type AsyncStateWriter,
  createMemoryEngine,
  engineToAsync,
  type StateEngineReader,
  type StateWriter,
} from '@ledger-state/engine'
import type { LedgerSource } from '@ledger-state/feed'
import {
  type HoldingsLedger,
  HoldingsModel,
  OWNERS,
  randomHoldings,
} from '@ledger-state/ledger/testing/random-holdings'
import {
  coinOfRow,
  endedIn,
  HOLDINGS_KEY,
  HOLDINGS_PREFIX_LENGTH,
  isHoldingsKey,
  isOwnKey,
  isRowOfHeld,
  KEY_FAMILIES,
} from '@ledger-state/records'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { typeTagToText } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { listedSource } from '../../testing/listed-source.js'
import { HoldingsKeeper } from './holdings-keeper.js'
import { ingestSource } from './ingest-source.js'
import { ValuesBefore } from './values-before.js'

const seed = testSeed()
const rounds = scaledRounds(25)

/** The rows of the index about holdings, in the words of the model. */
function rowsOf(engine: StateEngineReader, version: bigint): Set<string> {
  const rows = new Set<string>()
  const text = (bytes: Uint8Array): string => bytesToHex(bytes)
  for (const { key, value } of engine.at(version).scan(HOLDINGS_KEY.subarray(0, 1))) {
    const [first, second] = [key.subarray(2, HOLDINGS_PREFIX_LENGTH), key.subarray(HOLDINGS_PREFIX_LENGTH)]
    const { ownedObject, ownedStore, storeOfAsset, tokenOfCollection, ownedCoin } = KEY_FAMILIES
    if (key[1] === ownedObject.prefix[1]) rows.add(`owned ${text(first)} ${text(second)}`)
    if (key[1] === ownedStore.prefix[1]) rows.add(`store ${text(first)} ${text(second)} ${text(value)}`)
    if (key[1] === storeOfAsset.prefix[1]) rows.add(`asset ${text(first)} ${text(second)}`)
    if (key[1] === tokenOfCollection.prefix[1]) rows.add(`token ${text(first)} ${text(second)}`)
    if (key[1] === ownedCoin.prefix[1]) rows.add(`coin ${text(first)} ${typeTagToText(coinOfRow(second, value))}`)
  }
  return rows
}

/** Everything that a store has, as texts. */
function contentOf(engine: StateEngineReader): string[] {
  const { oldestVersion, latestVersion } = engine.ledger!
  const texts = [...engine.at(oldestVersion).scan(new Uint8Array(0))].map(
    ({ key, value }) => `${bytesToHex(key)}=${bytesToHex(value)}`,
  )
  if (latestVersion === oldestVersion) return texts
  for (const { version, writes } of engine.versions(oldestVersion + 1n, latestVersion)) {
    texts.push(...writes.map(([key, value]) => `${version} ${bytesToHex(key)}=${value && bytesToHex(value)}`).sort())
  }
  return texts
}

async function ingestParts(engine: StateWriter, { versions }: HoldingsLedger, lengths: () => number): Promise<void> {
  for (let at = 0; at < versions.length; ) {
    at += lengths()
    await ingestSource(engine, listedSource(versions.slice(0, at)))
  }
}

/** A source that begins with the state of a store at a version. */
function stateSource(engine: StateEngineReader, version: bigint): LedgerSource {
  const source = listedSource([])
  const entries = [...engine.at(version).scan(new Uint8Array(0))].filter(({ key }) => !isOwnKey(key))
  return {
    ...source,
    position: 'state',
    mark: undefined,
    progress: { done: 0, total: 1, unit: 'versions' },
    base: {
      version,
      complete: true,
      async *parts() {
        for (let at = 0; at < entries.length; at += 3) yield { entries: entries.slice(at, at + 3), mark: undefined }
      },
      describe: () => ({ chainId: 4, block: engine.blockAt(version).block, mark: undefined }),
    },
  } as LedgerSource
}

describe('the index of holdings', () => {
  it('equals a plain model at every version, with any batches of versions', async () => {
    const random = createRandom(seed)
    for (let round = 0; round < rounds; round++) {
      const ledger = randomHoldings(random, 40)
      const model = new HoldingsModel(ledger)
      const [engine, other] = [createMemoryEngine(), createMemoryEngine()]
      await ingestParts(engine, ledger, () => 1 + random.below(9))
      await ingestParts(other, ledger, () => 40)
      for (let version = 0n; version < 40n; version++) {
        expect(rowsOf(engine, version), `seed ${seed}, round ${round}, version ${version}`).toEqual(model.rows(version))
        expect(engine.at(version).has(HOLDINGS_KEY)).toBe(true)
      }
      expect(contentOf(engine)).toEqual(contentOf(other))
      expect(engine.mark).toEqual(other.mark)
    }
  })

  it('is the same however many objects commits remember, with restarts and truncations', async () => {
    const random = createRandom(seed)
    const count = 60
    for (let round = 0; round < rounds; round++) {
      const ledger = randomHoldings(random, count)
      const [engine, other] = [createMemoryEngine(), createMemoryEngine()]
      await ingestParts(other, ledger, () => count)
      const remembered = random.pick([1, 3, 8, 1_000])
      const newKeeper = () => new HoldingsKeeper({ isWanted: true, remembered, onNotice() {} })
      const writer = engineToAsync(engine)
      let keeper = newKeeper()
      for (let at = 0; at < count; ) {
        if (at > 0 && random.below(8) === 0) {
          at -= random.below(at)
          await writer.truncateTo(BigInt(at - 1))
          keeper = newKeeper()
        }
        if (random.below(8) === 0) keeper = newKeeper()
        const versions = ledger.versions.slice(at, at + 1 + random.below(7))
        for (const record of versions) keeper.add(record)
        const held = await writer.snapshot()
        const before = new ValuesBefore()
        const index = await keeper.prepare(held, versions, before)
        await before.load(held)
        await writer.commit(await index(), { chainId: 4 })
        at += versions.length
      }
      expect(contentOf(engine), `seed ${seed}, round ${round}`).toEqual(contentOf(other))
    }
  })

  it('is the same after a truncation and the same versions again', async () => {
    const random = createRandom(seed)
    const ledger = randomHoldings(random, 40)
    const [engine, other] = [createMemoryEngine(), createMemoryEngine()]
    await ingestParts(other, ledger, () => 40)
    await ingestParts(engine, ledger, () => 7)
    await engine.truncateTo(BigInt(random.below(39)))
    await ingestParts(engine, ledger, () => 40)
    expect(contentOf(engine)).toEqual(contentOf(other))
  })

  it('is built from an imported state', async () => {
    const ledger = randomHoldings(createRandom(seed), 60)
    const whole = createMemoryEngine()
    await ingestParts(whole, ledger, () => 20)
    const imported = createMemoryEngine()
    const { firstVersion } = whole.blockAt(50n)
    await ingestSource(imported, stateSource(whole, firstVersion))
    expect(rowsOf(imported, firstVersion)).toEqual(new HoldingsModel(ledger).rows(firstVersion))
    expect(imported.at().has(HOLDINGS_KEY)).toBe(true)
    await ingestSource(imported, listedSource(ledger.versions.slice(Number(firstVersion))))
    expect(rowsOf(imported, 59n)).toEqual(new HoldingsModel(ledger).rows(59n))
    const without = createMemoryEngine()
    await ingestSource(without, stateSource(whole, firstVersion), { holdings: false })
    expect([...without.at().scan(new Uint8Array(0))].filter(({ key }) => isHoldingsKey(key))).toEqual([])
  })

  it('is not begun in a store without it, and ends with the first version that is not indexed', async () => {
    const ledger = randomHoldings(createRandom(seed), 40)
    const half = ledger.versions.slice(0, 20)
    const without = createMemoryEngine()
    await ingestSource(without, listedSource(half), { holdings: false })
    await ingestSource(without, listedSource(ledger.versions))
    expect([...without.at().scan(new Uint8Array(0))].filter(({ key }) => isHoldingsKey(key))).toEqual([])
    const ended = createMemoryEngine()
    const notices: string[] = []
    await ingestSource(ended, listedSource(half))
    await ingestSource(ended, listedSource(ledger.versions), {
      holdings: false,
      onNotice: (text) => notices.push(text),
    })
    expect([19n, 20n].map((version) => ended.at(version).has(HOLDINGS_KEY))).toEqual([true, false])
    expect(notices).toEqual(['holdings are not indexed since version 20'])
    expect(ended.mark).toEqual(without.mark)
  })

  it('has two rows for a new store, and looks up each key once in a commit, also keys that are deleted', async () => {
    const ledger = randomHoldings(createRandom(seed), 200)
    const { versions } = ledger
    const inner = engineToAsync(createMemoryEngine())
    let loaded: string[] = []
    const engine: AsyncStateWriter = {
      ...inner,
      get ledger() {
        return inner.ledger
      },
      async snapshot() {
        const snapshot = await inner.snapshot()
        return {
          ...snapshot,
          at: (version) => {
            const view = snapshot.at(version)
            const load = (keys: readonly Uint8Array[]) => {
              loaded.push(...keys.map((key) => bytesToHex(key)))
              return view.load(keys)
            }
            return { ...view, load }
          },
        }
      },
      async commit(...given) {
        // Records of the store are read by each part of an ingest that begins, too.
        const keys = loaded.filter((key) => !key.startsWith('0xfe0'))
        expect(keys.toSorted()).toEqual([...new Set(keys)].toSorted())
        loaded = []
        await inner.commit(...given)
      },
    }
    await ingestSource(engine, listedSource(versions.slice(0, 100)))
    await ingestSource(engine, listedSource(versions.slice(100)))
    const state = (await engine.snapshot()).at()
    const rows = (await state.scan(HOLDINGS_KEY.subarray(0, 1))).entries.filter(({ key }) => isRowOfHeld(key))
    const named = (at: string) => rows.filter(({ key }) => bytesToHex(key).endsWith(at.slice(2)))
    const model = new HoldingsModel(ledger)
    const stores = model.objects(199n).filter(({ is }) => is.store && !is.collection)
    for (const { at } of stores) expect(named(at).filter(({ key }) => key[1]! < 0x11)).toHaveLength(2)
  })

  it('keeps no rows of holdings that ended before the window, and has all within it', async () => {
    const random = createRandom(seed)
    for (let round = 0; round < rounds; round++) {
      const ledger = randomHoldings(random, 80)
      const engine = createMemoryEngine()
      const retain = BigInt(1 + random.below(30))
      const ended = () =>
        [...engine.at().scan(HOLDINGS_KEY.subarray(0, 1))].filter(({ key }) => isHoldingsKey(key) && key[1]! >= 0x13)
      for (let at = 0; at < 80; ) {
        at += 1 + random.below(9)
        await ingestSource(engine, listedSource(ledger.versions.slice(0, at)), { retain })
      }
      // Commits with no holdings, one after the other, so that passes end.
      const { block } = ledger.versions[0]!
      const later = Array.from({ length: 6 }, (_, at) => ({
        version: BigInt(80 + at),
        block: { ...block!, height: BigInt(1_000 + at), timestampUsec: 1_000_000n },
        writes: [[Uint8Array.of(1), Uint8Array.of(at)] as const],
      }))
      const { oldestVersion } = engine.ledger!
      const needed = ended().filter(({ key }) => endedIn(key).version > oldestVersion)
      for (let at = 1; at <= 6; at++)
        await ingestSource(engine, listedSource([...ledger.versions, ...later].slice(0, 80 + at)))
      expect(ended(), `seed ${seed}, round ${round}`).toEqual(needed)
    }
  })

  it('never takes over rows of a source', async () => {
    const ledger = randomHoldings(createRandom(seed), 20)
    const [engine, other] = [createMemoryEngine(), createMemoryEngine()]
    await ingestParts(other, ledger, () => 20)
    const owner = Uint8Array.from(Buffer.from(OWNERS[0]!.slice(2), 'hex'))
    const row = Uint8Array.of(...KEY_FAMILIES.ownedObject.prefix, ...owner, ...owner)
    const hostile = ledger.versions.map((record) => ({
      ...record,
      writes: [...record.writes, [row, Uint8Array.of(1)] as const, [HOLDINGS_KEY, null] as const],
    }))
    await ingestSource(engine, listedSource(hostile))
    expect(contentOf(engine)).toEqual(contentOf(other))
    const without = createMemoryEngine()
    await ingestSource(without, listedSource(hostile), { holdings: false })
    expect(contentOf(without).filter((text) => text.includes('0xfe0'))).toEqual([])
  })
})
