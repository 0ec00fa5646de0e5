import { ADDRESS_LENGTH, ByteReader } from '@ledger-state/core'
import { parseStructTag, resourceKey, type TypeTag } from '@ledger-state/type-tag'
import type { LedgerState } from '../state/ledger-state.js'
import type { HeldAsset } from './holding.js'
import { readObject } from './holding.js'
import { ifDecoded, readFungibleMetadata, readText } from './object-members.js'

const COIN_INFO = parseStructTag('0x1::coin::CoinInfo')
const U128 = 16

/** Place of the item of a table that counts the supply of a coin. */
export interface SupplyItem {
  readonly handle: Uint8Array
  readonly key: Uint8Array
}

/** All that the state says about an asset. */
export interface AssetRecord {
  readonly asset: HeldAsset
  readonly name: string
  readonly symbol: string
  readonly decimals: number
  /** Undefined for a coin. */
  readonly iconUri: string | undefined
  /** Undefined for a coin. */
  readonly projectUri: string | undefined
  /** Account of the coin's module, or owner of the object of the asset. */
  readonly creator: Uint8Array
  /** Version that last wrote the record. */
  readonly version: bigint
  /** Supply of a fungible asset; undefined for a coin, and if the asset does not record it. */
  readonly supply: bigint | undefined
  readonly maximum: bigint | undefined
  /** The item that counts the supply of a coin, if one does. */
  readonly supplyItem: SupplyItem | undefined
}

/** Reads the record of an asset in the state; undefined if there is none, or if it does not decode. */
export function readAssetRecord(state: LedgerState, asset: HeldAsset): AssetRecord | undefined {
  return asset.standard === 'v1' ? coinRecord(state, asset.coin) : fungibleRecord(state, asset.metadata)
}

function fungibleRecord({ view }: LedgerState, address: Uint8Array): AssetRecord | undefined {
  const stored = readObject(view, address)
  const metadata = stored && readFungibleMetadata(stored.group)
  if (!metadata) return undefined
  const { object, version } = stored
  return {
    asset: { standard: 'v2', metadata: address },
    creator: object.owner,
    version,
    supplyItem: undefined,
    ...metadata,
  }
}

function coinRecord({ view }: LedgerState, coin: TypeTag): AssetRecord | undefined {
  if (coin.kind !== 'struct') return undefined
  const entry = view.getEntry(resourceKey(coin.address, { ...COIN_INFO, typeArguments: [coin] }))
  return (
    entry &&
    ifDecoded(() => {
      const reader = new ByteReader(entry.value)
      const [name, symbol, decimals] = [readText(reader), readText(reader), reader.readU8()]
      const supplyItem = readSupplyItem(reader)
      return {
        asset: { standard: 'v1', coin },
        name,
        symbol,
        decimals,
        iconUri: undefined,
        projectUri: undefined,
        creator: coin.address,
        version: entry.version,
        supply: undefined,
        maximum: undefined,
        supplyItem,
      }
    })
  )
}

/** Reads an optional supply: either an aggregator (handle, key, limit) or an integer. */
function readSupplyItem(reader: ByteReader): SupplyItem | undefined {
  return reader.readOption(() =>
    reader.readOption(() => {
      const handle = reader.readBytes(ADDRESS_LENGTH)
      const key = reader.readBytes(ADDRESS_LENGTH)
      reader.readWideInteger(U128)
      return { handle, key }
    }),
  )
}
