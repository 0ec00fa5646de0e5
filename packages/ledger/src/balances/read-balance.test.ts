import { ByteWriter, hexToBytes, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { primaryStoreAddress } from '@ledger-state/proof'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { parseStructTag, resourceGroupKey, resourceKey, writeStructTag } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { engineOf } from '../../testing/engine-of.ts'
import { parseAsset } from '../assets/asset.js'
import { readBalance } from '../index.js'
import { createLedger } from '../state/create-ledger.js'

const HOME = parseAddress('0xcafe')
describe('readBalance', () => {
  const APT = parseAsset('0x1::aptos_coin::AptosCoin')
  const storeKey = resourceGroupKey(
    primaryStoreAddress(HOME, parseAddress('0xa')),
    parseStructTag('0x1::object::ObjectGroup'),
  )
  const coinKey = resourceKey(HOME, parseStructTag('0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>'))
  const coinStore = (value: string): Write => [coinKey, hexToBytes(`0x${value}${'00'.repeat(97)}`)]

  it('is 0 for a missing resource, and throws only if a stored one does not decode', async () => {
    const at = async (...writes: Write[]) => createLedger(await engineOf(writes)).at()
    expect(readBalance(await at(), HOME, APT)).toBe(0n)
    expect(readBalance(await at(coinStore('6400000000000000')), HOME, APT)).toBe(100n)
    expect(readBalance(await at(coinStore('6400000000000000')), HOME, parseAsset('0xa'))).toBe(0n)
    expect(readBalance(await at([storeKey, Uint8Array.of(255)]), HOME, APT)).toBe(0n)
    const broken = await at([coinKey, Uint8Array.of(1)])
    expect(() => readBalance(broken, HOME, APT)).toThrow(expect.objectContaining({ code: 'invalid_bcs' }))
  })

  it('refuses a sum above u64', async () => {
    const group = new ByteWriter().uleb128(1)
    writeStructTag(group, parseStructTag('0x1::fungible_asset::FungibleStore'))
    group.byteString(new ByteWriter().bytes(parseAddress('0xa')).u64(1n).bool(false).toBytes())
    const state = createLedger(await engineOf([coinStore('ffffffffffffffff'), [storeKey, group.toBytes()]])).at()
    expect(readBalance(state, HOME, parseAsset('0xa'))).toBe(1n)
    expect(() => readBalance(state, HOME, APT)).toThrow(expect.objectContaining({ code: 'balance_overflow' }))
  })
})

describe.skipIf(!hasSharedData)('the genesis of mainnet', () => {
  it('holds 424 coin stores of AptosCoin with the known sum', async () => {
    const engine = createMemoryEngine()
    const source = await openSource(sharedPath('data/genesis/mainnet.genesis.blob'))
    for await (const record of source.versions()) await engine.commit([record], { chainId: source.chainId! })
    const ledger = createLedger(engine).at()
    const coin = parseAsset('0x1::aptos_coin::AptosCoin')
    let holders = 0
    let sum = 0n
    for await (const { writes } of (await openSource(sharedPath('data/genesis/mainnet.genesis.blob'))).versions()) {
      for (const [key] of writes) {
        const account = key.subarray(1, 33)
        const expected = resourceKey(account, parseStructTag('0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>'))
        if (Buffer.compare(key, expected) !== 0) continue
        holders++
        sum += readBalance(ledger, account, coin)
      }
    }
    expect([holders, sum]).toEqual([424, 18_062_791_321_240_000n])
  })
})
