import { ByteReader } from '@ledger-state/core'
import { decodeUtf8 } from '@ledger-state/core/bytes'
import type { StateView } from '@ledger-state/engine'
import { findGroupMember } from '@ledger-state/move-module'
import { objectKey } from '@ledger-state/records'
import { parseStructTag, resourceKey, structTagToBytes } from '@ledger-state/type-tag'
import type { LedgerState } from '../state/ledger-state.js'
import type { HeldAsset } from './holding.js'
import { ifDecoded } from './object-members.js'

const COIN_INFO = parseStructTag('0x1::coin::CoinInfo')
const METADATA = structTagToBytes(parseStructTag('0x1::fungible_asset::Metadata'))

/** Metadata of an asset, by its creator. */
export interface AssetMetadata {
  readonly name: string
  readonly symbol: string
  readonly decimals: number
}

/** Reads the metadata of an asset; undefined if it is absent or does not decode. */
export function readAssetMetadata({ view }: LedgerState, asset: HeldAsset): AssetMetadata | undefined {
  const bytes = asset.standard === 'v2' ? metadataOf(view, asset.metadata) : coinInfoOf(view, asset)
  // CoinInfo and Metadata both begin with: String name, String symbol, u8 decimals.
  return bytes && ifDecoded(() => readBeginning(bytes))
}

function readBeginning(bytes: Uint8Array): AssetMetadata | undefined {
  const reader = new ByteReader(bytes)
  const name = decodeUtf8(reader.readByteString())
  const symbol = decodeUtf8(reader.readByteString())
  const decimals = reader.readU8()
  return name === undefined || symbol === undefined ? undefined : { name, symbol, decimals }
}

function metadataOf(view: StateView, address: Uint8Array): Uint8Array | undefined {
  const group = view.get(objectKey(address))
  return group && ifDecoded(() => findGroupMember(group, METADATA))
}

function coinInfoOf(view: StateView, { coin }: Extract<HeldAsset, { standard: 'v1' }>): Uint8Array | undefined {
  if (coin.kind !== 'struct') return undefined
  return view.get(resourceKey(coin.address, { ...COIN_INFO, typeArguments: [coin] }))
}
