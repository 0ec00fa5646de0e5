import { parseJson } from '@ledger-state/bcs'
import { ByteReader, bytesToHex, parseAddress, type StateView } from '@ledger-state/core'
import { openSource } from '@ledger-state/feed'
import { createMemoryEngine } from '@ledger-state/state-engine'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { decodeStateKey, parseTypeTag, typeTagToText } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { engineOf } from '../../testing/engine-of.ts'
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
      expect([balance!.toJson(), String(balance!.toJsonUtf8()), bytesToHex(balance!.bytes)]).toEqual([
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
