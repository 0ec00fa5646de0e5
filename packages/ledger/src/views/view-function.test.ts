import { parseJson } from '@ledger-state/bcs'
import { ByteReader, ByteWriter, bytesToHex, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine, type StateView } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import {
  decodeStateKey,
  parseStructTag,
  parseTypeTag,
  resourceGroupKey,
  typeTagToText,
  writeStructTag,
} from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { engineOf } from '../../testing/engine-of.ts'
import { primaryStoreAddress } from '../balances/derived-address.js'
import { createLedger } from '../create-ledger.js'
import type { LedgerState, ViewArgument } from '../index.js'

const OWNER = '0xcafe'
const json = (text: string): ViewArgument => ({ kind: 'json', value: parseJson(text) })
const bcs = (address: string): ViewArgument => ({ kind: 'bcs', bytes: parseAddress(address) })
const COIN = parseTypeTag('0x1::aptos_coin::AptosCoin')
const METADATA = parseTypeTag('0x1::fungible_asset::Metadata')

async function emptyState(): Promise<LedgerState> {
  return createLedger(await engineOf([])).at()
}

describe('callView', () => {
  it('takes arguments in JSON and in BCS', async () => {
    const state = await emptyState()
    const coinBalance = (argument: ViewArgument) =>
      state.callView({ function: '0x1::coin::balance', typeArguments: [COIN], arguments: [argument] })
    for (const argument of [json(`"${OWNER}"`), bcs(OWNER)]) {
      const [balance] = coinBalance(argument)
      expect([balance!.toJson(), new TextDecoder().decode(balance!.toJsonUtf8()), bytesToHex(balance!.bytes)]).toEqual([
        '"0"',
        '"0"',
        '0x0000000000000000',
      ])
    }
    for (const metadata of [json('"0xa"'), json('{"inner":"0xa"}'), bcs('0xa')]) {
      const [balance] = state.callView({
        function: '0x1::primary_fungible_store::balance',
        typeArguments: [METADATA],
        arguments: [bcs(OWNER), metadata],
      })
      expect(balance!.toJson()).toBe('"0"')
    }
  })

  it.each([
    ['0x1::coin::supply', [COIN], [bcs(OWNER)], 'view_not_served'],
    ['toString', [COIN], [bcs(OWNER)], 'view_not_served'],
    ['0x1::coin::balance', [], [bcs(OWNER)], 'invalid_value'],
    ['0x1::coin::balance', [parseTypeTag('u8')], [bcs(OWNER)], 'invalid_value'],
    ['0x1::coin::balance', [COIN], [], 'invalid_value'],
    ['0x1::coin::balance', [COIN], [json('"0xzz"')], 'invalid_value'],
    ['0x1::coin::balance', [COIN], [json('7')], 'invalid_value'],
    ['0x1::coin::balance', [COIN], [{ kind: 'bcs', bytes: Uint8Array.of(1) }], 'invalid_value'],
    ['0x1::primary_fungible_store::balance', [METADATA], [bcs(OWNER)], 'invalid_value'],
  ] as const)('refuses %s with type arguments %j and arguments %j: %s', async (name, typeArguments, args, code) => {
    const state = await emptyState()
    const call = () => state.callView({ function: name, typeArguments, arguments: args })
    expect(call).toThrow(expect.objectContaining({ code }))
  })
})

describe('an asset that computes balances itself', () => {
  const METADATA_ADDRESS = parseAddress('0xa55e7')
  const OBJECT_GROUP = parseStructTag('0x1::object::ObjectGroup')
  const group = (name: string, value: ByteWriter): Uint8Array => {
    const writer = new ByteWriter().uleb128(1)
    writeStructTag(writer, parseStructTag(`0x1::fungible_asset::${name}`))
    return writer.byteString(value.toBytes()).toBytes()
  }
  const storeOf = (owner: string): Write => [
    resourceGroupKey(primaryStoreAddress(parseAddress(owner), METADATA_ADDRESS), OBJECT_GROUP),
    group('FungibleStore', new ByteWriter().bytes(METADATA_ADDRESS).u64(7n).bool(true)),
  ]
  /** Options of the functions that withdraw, deposit and derive the balance. */
  const hooks = (...named: readonly boolean[]): Write => {
    const value = new ByteWriter()
    for (const one of named) {
      value.bool(one)
      if (one) value.bytes(parseAddress('0xcafe')).string('hooks').string('derive')
    }
    return [resourceGroupKey(METADATA_ADDRESS, OBJECT_GROUP), group('DispatchFunctionStore', value)]
  }
  const balanceOf = async (owner: string, ...writes: Write[]) => {
    const state = createLedger(await engineOf(writes)).at()
    const call = { function: '0x1::primary_fungible_store::balance', typeArguments: [METADATA] }
    return state.callView({ ...call, arguments: [bcs(owner), bcs('0xa55e7')] })[0]!.toJson()
  }

  it('is refused by name, where the owner has a store', async () => {
    const refused = expect.objectContaining({
      code: 'view_not_served',
      message: expect.stringContaining('0xcafe::hooks::derive'),
    })
    await expect(balanceOf(OWNER, storeOf(OWNER), hooks(false, false, true))).rejects.toThrow(refused)
    await expect(balanceOf(OWNER, storeOf(OWNER), hooks(true, true, true))).rejects.toThrow(refused)
    expect(await balanceOf('0xbee', storeOf(OWNER), hooks(false, false, true))).toBe('"0"')
  })

  it('is told from one whose other functions are its own; stores may be frozen', async () => {
    expect(await balanceOf(OWNER, storeOf(OWNER), hooks(true, true, false))).toBe('"7"')
    expect(await balanceOf(OWNER, storeOf(OWNER))).toBe('"7"')
    expect(await balanceOf(OWNER, storeOf(OWNER), [hooks()[0], Uint8Array.of(255)])).toBe('"7"')
  })
})

describe.skipIf(!hasSharedData)('views over ledgers', () => {
  /** Owners of what looks like a coin store, with the text of the coin. */
  function coinStores(view: StateView): { owner: Uint8Array; coin: string }[] {
    const found: { owner: Uint8Array; coin: string }[] = []
    for (const { key } of view.scan(new Uint8Array(0))) {
      const decoded = decodeStateKey(key)
      if (decoded.kind !== 'resource' || decoded.tag.name !== 'CoinStore') continue
      found.push({ owner: decoded.address, coin: typeTagToText(decoded.tag.typeArguments[0]!) })
    }
    return found
  }

  it.each([
    ['data/genesis/mainnet.genesis.blob', 0n],
    ['conformance/fixture.ndjson.gz', 252n],
  ])('say what the balance read says: %s', async (file, version) => {
    const engine = createMemoryEngine()
    const source = await openSource(sharedPath(file))
    for await (const record of source.versions()) await engine.commit([record], { chainId: source.chainId! })
    const ledger = createLedger(engine)
    const state = ledger.at(version)
    const stores = coinStores(engine.at(version))
    expect(stores.length).toBeGreaterThan(0)
    for (const { owner, coin } of stores) {
      const argument = { kind: 'bcs', bytes: owner } as const
      const typeArguments = [parseTypeTag(coin)]
      const [value] = state.callView({ function: '0x1::coin::balance', typeArguments, arguments: [argument] })
      expect(new ByteReader(value!.bytes).readU64()).toBe(state.readBalance(owner, ledger.parseAsset(coin)))
      expect(value!.toJson()).toBe(`"${state.readBalance(owner, ledger.parseAsset(coin))}"`)
    }
  })
})
