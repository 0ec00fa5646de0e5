import { addressToLongHex } from '@ledger-state/core'
import { address, bigint, text } from '../columns.js'
import { allowedTexts } from '../conditions.js'
import { BYTES_OF_ROW } from '../limits.js'
import type { Source, Table } from '../table.js'
import { type CollectionRow, CURRENT_COLLECTIONS, collectionSize, readCollectionAt } from './current-collections.js'
import { ownedTokens } from './current-token-ownerships.js'
import { addressesOf, rowsOfEach } from './pages.js'

/** The tokens of one collection that an account owns. */
interface CollectionOwnership {
  readonly id: Uint8Array
  readonly owner: Uint8Array
  /** Undefined if the collection does not decode. */
  readonly collection: CollectionRow | undefined
  tokens: bigint
  /** Version that last wrote one of the tokens. */
  version: bigint
  /** The URI of the first token. */
  readonly tokenUri: string
}

/** The collections of the tokens that an account owns. */
export const CURRENT_COLLECTION_OWNERSHIPS: Table<CollectionOwnership> = {
  name: 'current_collection_ownership_v2_view',
  needs: 'owner_address',
  hasAggregate: false,
  columns: {
    collection_id: address((row) => row.id),
    collection_name: text((row) => row.collection?.collection.name),
    collection_uri: text((row) => row.collection?.collection.uri),
    creator_address: address((row) => row.collection?.collection.creator),
    distinct_tokens: bigint((row) => row.tokens),
    last_transaction_version: bigint((row) => row.version),
    owner_address: address((row) => row.owner),
    single_token_uri: text((row) => row.tokenUri),
  },
  relations: {
    current_collection: { shape: CURRENT_COLLECTIONS, read: (row: CollectionOwnership) => row.collection },
  },
  // `hold` was called for its memory when the group began.
  sizeOf: () => 0,
  find(source, condition) {
    const owners = allowedTexts(condition, 'owner_address')
    return owners && rowsOfEach(addressesOf(owners), (owner) => collectionsOwnedBy(source, owner))
  },
}

/** Groups an account's tokens by their collections, which are then sorted by their addresses. */
function* collectionsOwnedBy({ state, hold }: Source, owner: Uint8Array): Generator<CollectionOwnership | undefined> {
  const byId = new Map<string, CollectionOwnership>()
  for (const row of ownedTokens(state, owner)) {
    yield undefined
    if (!row) continue
    const { object, token } = row
    const key = addressToLongHex(token.collection)
    const known = byId.get(key)
    if (known) {
      known.tokens++
      if (object.version > known.version) known.version = object.version
      continue
    }
    const collection = readCollectionAt(state, token.collection)
    hold(BYTES_OF_ROW + 2 * token.uri.length + (collection ? collectionSize(collection) : 0))
    const { version } = object
    byId.set(key, { id: token.collection, owner, collection, tokens: 1n, version, tokenUri: token.uri })
  }
  for (const key of [...byId.keys()].sort()) yield byId.get(key)
}
