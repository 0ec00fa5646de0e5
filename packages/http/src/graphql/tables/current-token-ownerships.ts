import { type LedgerState, listOwnedObjects } from '@ledger-state/ledger'
import { address, bigint, flag, numeric, text, timeOfVersion, unknownTo } from '../columns.js'
import { allowedTexts } from '../conditions.js'
import type { Table } from '../table.js'
import { allowedCollections } from './current-collections.js'
import {
  CURRENT_TOKEN_DATAS,
  readTokenAt,
  type TokenRow,
  tokenSize,
  tokensOf,
  toTokenRow,
} from './current-token-datas.js'
import { addressesOf, allPages, mapped, rowsOfEach } from './pages.js'

/** Who owns digital assets. */
export const CURRENT_TOKEN_OWNERSHIPS: Table<TokenRow> = {
  name: 'current_token_ownerships_v2',
  needs: 'owner_address, token_data_id, storage_id or current_token_data.collection_id',
  hasAggregate: true,
  columns: {
    amount: numeric(() => 1n),
    is_fungible_v2: flag(() => false),
    is_soulbound_v2: flag((row) => !row.object.allowsUngatedTransfer),
    last_transaction_timestamp: timeOfVersion((row) => row.object.version),
    last_transaction_version: bigint((row) => row.object.version),
    owner_address: address((row) => row.object.owner),
    property_version_v1: numeric(() => 0n),
    storage_id: address((row) => row.object.address),
    table_type_v1: unknownTo('String'),
    token_data_id: address((row) => row.object.address),
    token_properties_mutated_v1: unknownTo('jsonb'),
    token_standard: text(() => 'v2'),
  },
  relations: { current_token_data: { shape: CURRENT_TOKEN_DATAS, read: (row: TokenRow) => row } },
  sizeOf: tokenSize,
  find({ state }, condition) {
    const ids =
      allowedTexts(condition, 'token_data_id') ??
      allowedTexts(condition, 'storage_id') ??
      allowedTexts(condition, 'current_token_data', 'token_data_id')
    if (ids) return rowsOfEach(addressesOf(ids), (id) => [readTokenAt(state, id)])
    const owners = allowedTexts(condition, 'owner_address')
    if (owners) return rowsOfEach(addressesOf(owners), (owner) => ownedTokens(state, owner))
    const collections = allowedCollections(condition, 'current_token_data', 'collection_id')
    return collections && rowsOfEach(collections, (collection) => tokensOf(state, collection))
  },
}

/** The tokens that an account owns, by address. */
export function ownedTokens(state: LedgerState, owner: Uint8Array): Iterable<TokenRow | undefined> {
  return mapped(
    allPages((page) => listOwnedObjects(state, owner, page)),
    toTokenRow,
  )
}
