import { type Asset, type Holding, listBalances, listHolders, readAssetRecord, readHolding } from '@ledger-state/ledger'
import { typeTagHeapSize } from '@ledger-state/type-tag'
import { address, assetOf, assetType, bigint, flag, numeric, text, timeOfVersion } from '../columns.js'
import { allowedTexts } from '../conditions.js'
import type { Source, Table } from '../table.js'
import { FUNGIBLE_ASSET_METADATA } from './fungible-asset-metadata.js'
import { addressesOf, allPages, mapped, rowsOfEach } from './pages.js'

/** Holdings of accounts: their coin stores and fungible stores. */
export const CURRENT_FUNGIBLE_ASSET_BALANCES: Table<Holding> = {
  name: 'current_fungible_asset_balances',
  needs: 'owner_address, storage_id or asset_type',
  hasAggregate: true,
  columns: {
    amount: numeric((row) => row.amount),
    asset_type: assetType((row) => row.asset),
    is_frozen: flag((row) => row.isFrozen),
    is_primary: flag((row) => row.isPrimary),
    last_transaction_timestamp: timeOfVersion((row) => row.version),
    last_transaction_version: bigint((row) => row.version),
    owner_address: address((row) => row.owner),
    storage_id: address((row) => row.storage),
    token_standard: text((row) => row.asset.standard),
  },
  relations: {
    metadata: { shape: FUNGIBLE_ASSET_METADATA, read: (row: Holding, { state }) => readAssetRecord(state, row.asset) },
  },
  sizeOf: ({ asset }) => (asset.standard === 'v1' ? typeTagHeapSize(asset.coin) : 0),
  find(source, condition) {
    const { state } = source
    const assets = allowedTexts(condition, 'asset_type')
    const owners = allowedTexts(condition, 'owner_address')
    if (owners) {
      const asset = assets?.length === 1 ? assetOf(assets[0]!) : undefined
      return rowsOfEach(addressesOf(owners), (owner) =>
        allPages((page) => listBalances(state, owner, { ...page, asset })),
      )
    }
    const storages = allowedTexts(condition, 'storage_id')
    if (storages) return rowsOfEach(addressesOf(storages), (storage) => storedAt(source, storage))
    return assets && rowsOfEach(new Set(assets), (asset) => holdersOf(source, assetOf(asset)))
  },
}

/** The fungible store at an address, and the coin stores of the account there. */
function* storedAt({ state }: Source, storage: Uint8Array): Generator<Holding | undefined> {
  yield readHolding(state, storage)
  const held = allPages((page) => listBalances(state, storage, page))
  yield* mapped(held, (holding) => (holding.asset.standard === 'v1' ? holding : undefined))
}

function holdersOf({ state }: Source, asset: Asset | undefined): Iterable<Holding | undefined> {
  return asset ? allPages((page) => listHolders(state, asset, page)) : []
}
