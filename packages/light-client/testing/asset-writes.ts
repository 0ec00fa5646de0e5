// Stores of balances, as the framework writes them.
import { ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import { pairedMetadataAddress, primaryStoreAddress } from '@ledger-state/proof'
import { parseStructTag, resourceGroupKey, resourceKey, writeStructTag } from '@ledger-state/type-tag'

export const APT = '0x1::aptos_coin::AptosCoin'
const COIN = parseStructTag(APT)
const GROUP = parseStructTag('0x1::object::ObjectGroup')

/** The coin store of an owner: value, frozen, and two event handles. */
export function coinStoreOf(owner: string, value: bigint): Write {
  const key = resourceKey(parseAddress(owner), parseStructTag(`0x1::coin::CoinStore<${APT}>`))
  return [key, new ByteWriter().u64(value).bytes(new Uint8Array(97)).toBytes()]
}

/** The primary store of an owner for the fungible asset of the coin. */
export function primaryStoreOf(owner: string, value: bigint): Write {
  const metadata = pairedMetadataAddress(COIN)
  const group = new ByteWriter().uleb128(1)
  writeStructTag(group, parseStructTag('0x1::fungible_asset::FungibleStore'))
  group.byteString(new ByteWriter().bytes(metadata).u64(value).bool(false).toBytes())
  return [resourceGroupKey(primaryStoreAddress(parseAddress(owner), metadata), GROUP), group.toBytes()]
}

/** Accounts with both stores, with one of them, and with none; and their balances. */
export const HOLDERS = [
  { address: '0xb07', coinStore: 5n, primaryStore: 7n },
  { address: '0xc01', coinStore: 2n ** 64n - 1n, primaryStore: undefined },
  { address: '0xfa', coinStore: undefined, primaryStore: 11n },
  { address: '0x0e', coinStore: undefined, primaryStore: undefined },
] as const

export const HOLDER_WRITES: readonly Write[] = HOLDERS.flatMap(({ address, coinStore, primaryStore }) => [
  ...(coinStore === undefined ? [] : [coinStoreOf(address, coinStore)]),
  ...(primaryStore === undefined ? [] : [primaryStoreOf(address, primaryStore)]),
])
