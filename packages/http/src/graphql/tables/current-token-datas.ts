import {
  type LedgerState,
  listTokens,
  type OwnedObject,
  readFungibleMetadata,
  readOwnedObject,
  readToken,
  readTokenProperties,
  type TokenData,
} from '@ledger-state/ledger'
import { address, bigint, flag, integer, json, numeric, text, timeOfVersion, unknownTo } from '../columns.js'
import { allowedTexts } from '../conditions.js'
import type { Table } from '../table.js'
import { propertiesToJson } from '../token-properties.js'
import { CDN_ASSET_URIS } from './cdn-asset-uris.js'
import { allowedCollections, CURRENT_COLLECTIONS, readCollectionAt } from './current-collections.js'
import { addressesOf, allPages, mapped, rowsOfEach } from './pages.js'

/** A token, and the object that has it. */
export interface TokenRow {
  readonly object: OwnedObject
  readonly token: TokenData
}

/** Digital assets: tokens of the standard v2. Each exists once. */
export const CURRENT_TOKEN_DATAS: Table<TokenRow> = {
  name: 'current_token_datas_v2',
  needs: 'token_data_id or collection_id',
  hasAggregate: false,
  columns: {
    collection_id: address((row) => row.token.collection),
    decimals: integer(() => 0n),
    description: text((row) => row.token.description),
    is_fungible_v2: flag((row) => readFungibleMetadata(row.object.group) !== undefined),
    largest_property_version_v1: unknownTo('numeric'),
    last_transaction_timestamp: timeOfVersion((row) => row.object.version),
    last_transaction_version: bigint((row) => row.object.version),
    maximum: unknownTo('numeric'),
    supply: numeric(() => 0n),
    token_data_id: address((row) => row.object.address),
    token_name: text((row) => row.token.name),
    token_properties: json((row) => {
      const properties = readTokenProperties(row.object.group)
      return properties && propertiesToJson(properties)
    }),
    token_standard: text(() => 'v2'),
    token_uri: text((row) => row.token.uri),
  },
  relations: {
    current_collection: {
      shape: CURRENT_COLLECTIONS,
      read: (row: TokenRow, { state }) => readCollectionAt(state, row.token.collection),
    },
    cdn_asset_uris: CDN_ASSET_URIS,
  },
  sizeOf: tokenSize,
  find({ state }, condition) {
    const ids = allowedTexts(condition, 'token_data_id')
    if (ids) return rowsOfEach(addressesOf(ids), (id) => [readTokenAt(state, id)])
    const collections = allowedCollections(condition, 'collection_id')
    return collections && rowsOfEach(collections, (collection) => tokensOf(state, collection))
  },
}

/** Bytes of heap of a token: its group, and its texts. */
export function tokenSize({ object }: TokenRow): number {
  return 3 * object.group.length
}

/** The token at an address; undefined if there is none. */
export function readTokenAt(state: LedgerState, id: Uint8Array): TokenRow | undefined {
  const object = readOwnedObject(state, id)
  return object && toTokenRow(object)
}

/** The tokens of a collection, by address. */
export function tokensOf(state: LedgerState, collection: Uint8Array): Iterable<TokenRow | undefined> {
  return mapped(
    allPages((page) => listTokens(state, collection, page)),
    toTokenRow,
  )
}

/** An object as a token; undefined if it is none. */
export function toTokenRow(object: OwnedObject): TokenRow | undefined {
  const token = readToken(object.group)
  return token && { object, token }
}
