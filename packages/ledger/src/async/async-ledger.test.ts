import { setImmediate } from 'node:timers/promises'
import { JsonNumber } from '@ledger-state/bcs'
import { ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import { engineToAsync, type StateWriter } from '@ledger-state/engine'
import { delayState } from '@ledger-state/engine/testing/delayed-state'
import { ABILITY, type SignatureToken, writeModule } from '@ledger-state/move-module'
import { createRandom } from '@ledger-state/testing/random'
import { moduleKey, parseStructTag, resourceKey, tableItemKey } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { engineOf } from '../../testing/engine-of.ts'
import { listTableItems, readBalance, readTableItem } from '../index.js'
import type { Ledger } from '../state/ledger.js'
import { type AsyncLedgerOptions, createAsyncLedger } from './async-ledger.js'

const HOME = parseAddress('0xcafe')
const HANDLE = parseAddress('0x7ab1e')
const OWNER = parseAddress('0xa11ce')
const DEPTH = 5

/** Writes of modules in a chain: struct S of m0 has a field of type S of m1, and so on. */
function modules(): Write[] {
  return Array.from({ length: DEPTH }, (_, at): Write => {
    const inner: SignatureToken =
      at + 1 < DEPTH
        ? { kind: 'struct', module: { address: HOME, name: `m${at + 1}` }, name: 'S', typeArguments: [] }
        : { kind: 'u8' }
    const structs = [
      {
        kind: 'struct' as const,
        name: 'S',
        abilities: ABILITY.key,
        typeParameters: [],
        fields: [{ name: 'inner', type: inner }],
      },
    ]
    return [moduleKey(HOME, `m${at}`), writeModule({ version: 7, address: HOME, name: `m${at}`, structs })]
  })
}

const COIN_STORE = resourceKey(OWNER, parseStructTag('0x1::coin::CoinStore<0xa::a::A>'))
const coins = (value: bigint): Uint8Array => new ByteWriter().u64(value).bytes(new Uint8Array(97)).toBytes()
const items = (value: number): Write[] =>
  Array.from({ length: 100 }, (_, at) => [tableItemKey(HANDLE, Uint8Array.of(at)), Uint8Array.of(value)])

function asyncOver(engine: StateWriter, options: AsyncLedgerOptions = {}) {
  const state = delayState(engineToAsync(engine), { random: createRandom(1) })
  const asyncLedger = createAsyncLedger(state, options)
  return {
    asyncLedger,
    /** Result of a read, and the number of rounds that it took. */
    async ask<T>(read: (ledger: Ledger) => T): Promise<[T, number]> {
      const before = state.rounds
      const answer = await asyncLedger.read(read)
      return [answer, state.rounds - before]
    },
  }
}

const readOwner = (ledger: Ledger): bigint => readBalance(ledger.at(), OWNER, ledger.parseAsset('0xa::a::A'))

function readItem(ledger: Ledger, key = 1): string {
  const [keyType, valueType] = [ledger.parseType('u8'), ledger.parseType('0xcafe::m0::S')]
  const request = { handle: HANDLE, keyType, valueType, key: new JsonNumber(String(key)) }
  return readTableItem(ledger.at(), request).toJson()
}

const itemOf = (value: number): string => `${'{"inner":'.repeat(DEPTH)}${value}${'}'.repeat(DEPTH)}`

describe('a read over an async engine', () => {
  const begin = () => engineOf([...modules(), ...items(7), [COIN_STORE, coins(5n)]])

  it('of a balance or an item takes one round, once the modules of its types are known', async () => {
    const { ask } = asyncOver(await begin())
    expect(await ask(readItem)).toEqual([itemOf(7), expect.any(Number)])
    expect(await ask(readItem)).toEqual([itemOf(7), 1])
    expect(await ask((ledger) => readItem(ledger, 2))).toEqual([itemOf(7), 1])
    expect(await ask(readOwner)).toEqual([5n, 1])
  })

  it('takes one round more if the ledger has moved on, and then one again', async () => {
    const engine = await begin()
    const { ask } = asyncOver(engine)
    await ask(readItem)
    for (const version of [1n, 2n, 3n]) {
      const block = { height: version, epoch: 0n, timestampUsec: version }
      await engine.commit([{ version, block, writes: items(Number(version)) }], { chainId: 4 })
      const [answer, rounds] = await ask(readItem)
      expect(answer).toBe(itemOf(Number(version)))
      // The rounds are: the snapshot; the item at its version, and at the same time whether the modules are still
      // current. That may come last.
      expect(rounds).toBeLessThanOrEqual(3)
      expect(await ask(readItem)).toEqual([answer, 1])
    }
  })

  it('that begins on versions which were cut off since the last read is answered on the new branch', async () => {
    const engine = await begin()
    const { ask } = asyncOver(engine)
    for (let round = 1; round <= 4; round++) {
      for (const version of [1n, 2n]) {
        const block = { height: version, epoch: 0n, timestampUsec: version }
        await engine.commit([{ version, block, writes: items(round) }], { chainId: 4 })
      }
      expect((await ask(readItem))[0]).toBe(itemOf(round))
      await engine.truncateTo(0n)
      if (round % 2 === 0) expect((await ask(readItem))[0]).toBe(itemOf(7))
      if (round === 3) await ask((ledger) => ledger.at().version)
    }
    expect((await ask(readItem))[0]).toBe(itemOf(7))
  })

  it('never mixes the values of two branches, whenever a truncation comes', async () => {
    const block = { height: 1n, epoch: 0n, timestampUsec: 1n }
    const seen = new Set<string>()
    for (let seed = 0; seed < 60; seed++) {
      const engine = await begin()
      await engine.commit([{ version: 1n, block, writes: items(1) }], { chainId: 4 })
      const random = createRandom(seed)
      const state = delayState(engineToAsync(engine), { random })
      const asyncLedger = createAsyncLedger(state)
      const readSome = (ledger: Ledger): string[] => [1, 2, 3].map((key) => readItem(ledger, key))
      await asyncLedger.read(readSome)
      const asked = asyncLedger.read(readSome)
      for (let turns = random.below(40); turns > 0; turns--) await setImmediate()
      await engine.truncateTo(0n)
      await engine.commit([{ version: 1n, block, writes: items(2) }], { chainId: 4 })
      const answer = await asked
      seen.add(answer[0]!)
      expect(answer).toEqual(answer.map(() => answer[0]))
      expect(await asyncLedger.read(readSome)).toEqual([2, 2, 2].map(itemOf))
    }
    expect(seen).toEqual(new Set([itemOf(1), itemOf(2)]))
  })

  it('loads a level of modules in each round', async () => {
    const { ask } = asyncOver(await begin())
    const [, rounds] = await ask(readItem)
    // The rounds are: the snapshot, the item, and one for each level.
    expect(rounds).toBeLessThanOrEqual(2 + DEPTH)
  })

  it('of many items loads all of them in one round', async () => {
    const { ask } = asyncOver(await begin())
    await ask(readItem)
    const readAll = (ledger: Ledger): string[] =>
      Array.from({ length: 100 }, (_, at) => {
        try {
          return readItem(ledger, at)
        } catch (error) {
          return String(error)
        }
      })
    expect(await ask(readAll)).toEqual([new Array(100).fill(itemOf(7)), 1])
  })

  it('of a page of items loads it in one round', async () => {
    const { ask } = asyncOver(await begin())
    await ask(readItem)
    const types = (ledger: Ledger) => ({
      keyType: ledger.parseType('u8'),
      valueType: ledger.parseType('0xcafe::m0::S'),
    })
    const list = (ledger: Ledger): (string | undefined)[] =>
      Array.from(listTableItems(ledger.at(), HANDLE, types(ledger), { limit: 90 }), ({ value }) => value?.toJson())
    expect(await ask(list)).toEqual([new Array(90).fill(itemOf(7)), 1])
  })

  it('that asks nothing of the state takes no round to answer', async () => {
    const { asyncLedger } = asyncOver(await begin())
    await expect(asyncLedger.read((ledger) => ledger.parseType('u9'))).rejects.toMatchObject({
      code: 'invalid_type_tag',
    })
  })

  it('is refused above the bytes and the rounds that one read may take', async () => {
    const large = asyncOver(await begin(), { maxLoadedBytes: 1_000 })
    await expect(large.ask((ledger) => [...listTableItems(ledger.at(), HANDLE)])).rejects.toMatchObject({
      code: 'read_too_large',
    })
    expect(await large.ask(readOwner)).toEqual([5n, 1])
    const deep = asyncOver(await begin(), { maxRounds: 3 })
    await expect(deep.ask(readItem)).rejects.toMatchObject({ code: 'read_too_large' })
    // The values that a refused read loaded are kept, so the next read gets further.
    await expect(deep.ask(readItem)).resolves.toEqual([itemOf(7), expect.any(Number)])
  })

  it('reads modules again that were evicted or upgraded', async () => {
    const engine = await begin()
    const { ask } = asyncOver(engine, { moduleCacheBytes: 500 })
    await ask(readItem)
    const block = { height: 1n, epoch: 0n, timestampUsec: 1n }
    const structs = [
      {
        kind: 'struct' as const,
        name: 'S',
        abilities: ABILITY.key,
        typeParameters: [],
        fields: [{ name: 'upgraded', type: { kind: 'u8' as const } }],
      },
    ]
    const upgraded = writeModule({ version: 7, address: HOME, name: 'm0', structs })
    await engine.commit([{ version: 1n, block, writes: [[moduleKey(HOME, 'm0'), upgraded]] }], { chainId: 4 })
    expect(await ask(readItem)).toEqual(['{"upgraded":7}', expect.any(Number)])
    const old = (ledger: Ledger): string => {
      const [keyType, valueType] = [ledger.parseType('u8'), ledger.parseType('0xcafe::m0::S')]
      return readTableItem(ledger.at(0n), { handle: HANDLE, keyType, valueType, key: new JsonNumber('1') }).toJson()
    }
    expect(await ask(old)).toEqual([itemOf(7), expect.any(Number)])
  })
})
