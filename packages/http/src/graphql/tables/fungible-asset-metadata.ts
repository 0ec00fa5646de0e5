import { addressToLongHex } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { type AssetRecord, listOwnedObjects, listResourcesInSteps, readAssetRecord } from '@ledger-state/ledger'
import { parseStructTag, type StructTag } from '@ledger-state/type-tag'
import { address, assetOf, assetType, bigint, heldAsset, integer, numeric, text, timeOfVersion } from '../columns.js'
import { allowedTexts } from '../conditions.js'
import type { Source, Table } from '../table.js'
import { addressesOf, allPages, mapped, rowsOfEach } from './pages.js'

/** Metadata that the creators of fungible assets and coins wrote. */
export const FUNGIBLE_ASSET_METADATA: Table<AssetRecord> = {
  name: 'fungible_asset_metadata',
  needs: 'asset_type or creator_address',
  hasAggregate: false,
  columns: {
    asset_type: assetType((row) => row.asset),
    creator_address: address((row) => row.creator),
    decimals: integer((row) => BigInt(row.decimals)),
    icon_uri: text((row) => row.iconUri),
    last_transaction_timestamp: timeOfVersion((row) => row.version),
    last_transaction_version: bigint((row) => row.version),
    maximum_v2: numeric((row) => row.maximum),
    name: text((row) => row.name),
    project_uri: text((row) => row.projectUri),
    supply_aggregator_table_handle_v1: text((row) => row.supplyItem && addressToLongHex(row.supplyItem.handle)),
    supply_aggregator_table_key_v1: text((row) => row.supplyItem && addressToLongHex(row.supplyItem.key)),
    supply_v2: numeric((row) => row.supply),
    symbol: text((row) => row.symbol),
    token_standard: text((row) => row.asset.standard),
  },
  sizeOf: ({ name, symbol, iconUri = '', projectUri = '' }) =>
    2 * (name.length + symbol.length + iconUri.length + projectUri.length),
  find(source, condition) {
    const assets = allowedTexts(condition, 'asset_type')
    if (assets) {
      return rowsOfEach(new Set(assets), (asset) => {
        const parsed = assetOf(asset)
        return [parsed && readAssetRecord(source.state, heldAsset(parsed))]
      })
    }
    const creators = allowedTexts(condition, 'creator_address')
    return creators && rowsOfEach(addressesOf(creators), (creator) => createdBy(source, creator))
  },
}

/** The assets of a creator: the coins of its modules, and the assets whose objects it owns. */
function* createdBy({ state }: Source, creator: Uint8Array): Generator<AssetRecord | undefined> {
  for (const resource of listResourcesInSteps(state, creator)) {
    const [coin] = resource && isCoinInfo(resource.tag) ? resource.tag.typeArguments : []
    yield coin && readAssetRecord(state, { standard: 'v1', coin })
  }
  const objects = allPages((page) => listOwnedObjects(state, creator, page))
  yield* mapped(objects, (object) => readAssetRecord(state, { standard: 'v2', metadata: object.address }))
}

const COIN_INFO = parseStructTag('0x1::coin::CoinInfo')

function isCoinInfo({ address: at, module, name }: StructTag): boolean {
  return name === COIN_INFO.name && module === COIN_INFO.module && compareBytes(at, COIN_INFO.address) === 0
}
