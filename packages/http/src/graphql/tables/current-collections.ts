import {
  type CollectionData,
  type LedgerState,
  listOwnedObjects,
  namedObjectAddress,
  type OwnedObject,
  readCollection,
  readOwnedObject,
} from '@ledger-state/ledger'
import { address, addressOf, bigint, flag, numeric, text, timeOfVersion, unknownTo } from '../columns.js'
import { allowedTexts } from '../conditions.js'
import type { Condition, Rows, Table } from '../table.js'
import { CDN_ASSET_URIS } from './cdn-asset-uris.js'
import { addressesOf, allPages, mapped, rowsOfEach } from './pages.js'

/** A collection, and the object that has it. */
export interface CollectionRow {
  readonly object: OwnedObject
  readonly collection: CollectionData
}

/** Collections of digital assets. */
export const CURRENT_COLLECTIONS: Table<CollectionRow> = {
  name: 'current_collections_v2',
  needs: 'collection_id or creator_address',
  hasAggregate: false,
  columns: {
    collection_id: address((row) => row.object.address),
    collection_name: text((row) => row.collection.name),
    creator_address: address((row) => row.collection.creator),
    current_supply: numeric((row) => row.collection.supply ?? 0n),
    description: text((row) => row.collection.description),
    last_transaction_timestamp: timeOfVersion((row) => row.object.version),
    last_transaction_version: bigint((row) => row.object.version),
    max_supply: numeric((row) => row.collection.maximum),
    mutable_description: flag((row) => row.collection.isDescriptionMutable),
    mutable_uri: flag((row) => row.collection.isUriMutable),
    table_handle_v1: unknownTo('String'),
    token_standard: text(() => 'v2'),
    total_minted_v2: numeric((row) => row.collection.minted),
    uri: text((row) => row.collection.uri),
  },
  relations: { cdn_asset_uris: CDN_ASSET_URIS },
  sizeOf: collectionSize,
  find({ state }, condition) {
    const ids = allowedTexts(condition, 'collection_id')
    if (ids) return rowsOfEach(addressesOf(ids), (id) => [readCollectionAt(state, id)])
    const creators = allowedTexts(condition, 'creator_address')
    return creators && rowsOfEach(addressesOf(creators), (creator) => collectionsOf(state, creator, condition))
  },
}

/** Bytes of heap of a collection: its group, and its texts. */
export function collectionSize({ object }: CollectionRow): number {
  return 3 * object.group.length
}

/** The collection at an address; undefined if there is none. */
export function readCollectionAt(state: LedgerState, id: Uint8Array): CollectionRow | undefined {
  const object = readOwnedObject(state, id)
  return object && toRow(object)
}

/** A collection is found by its creator and its name, or among the objects that its creator owns. */
function collectionsOf(state: LedgerState, creator: Uint8Array, condition: Condition): Rows<CollectionRow> {
  const names = allowedTexts(condition, 'collection_name')
  if (names) {
    return names.map((name) => readCollectionAt(state, namedObjectAddress(creator, new TextEncoder().encode(name))))
  }
  return mapped(
    allPages((page) => listOwnedObjects(state, creator, page)),
    toRow,
  )
}

function toRow(object: OwnedObject): CollectionRow | undefined {
  const collection = readCollection(object.group)
  return collection && { object, collection }
}

/** Addresses of the collections that a filter of tokens allows. */
export function allowedCollections(condition: Condition, ...path: readonly string[]): Uint8Array[] | undefined {
  return allowedTexts(condition, ...path)?.flatMap((id) => addressOf(id) ?? [])
}
