import { readResourceGroup } from '@ledger-state/move-module'
import { typeTagToText } from '@ledger-state/type-tag'
import type { LedgerState } from '../state/ledger-state.js'
import { readObject } from './holding.js'
import { expectOwnerKnown, expectTokensKnown } from './known-holdings.js'
import { createHoldingsPage, type HoldingsPage, type HoldingsPageOptions, mergeRows, scanRows } from './row-listing.js'

/** An object that an account or another object owns. */
export interface OwnedObject {
  readonly address: Uint8Array
  readonly owner: Uint8Array
  readonly allowsUngatedTransfer: boolean
  /** Types of the members of its resource group. */
  readonly resources: readonly string[]
  /** Version that last wrote the group. */
  readonly version: bigint
}

/** A token of a collection. */
export interface CollectionToken {
  readonly address: Uint8Array
  readonly owner: Uint8Array
  /** Version that last wrote the token. */
  readonly version: bigint
}

/**
 * The objects that an account or an object owns directly, by address.
 * @throws `holdings_not_indexed`; `version_pruned` if a slice has not kept the account since its beginning
 */
export function listOwnedObjects(
  state: LedgerState,
  owner: Uint8Array,
  options: HoldingsPageOptions = {},
): HoldingsPage<OwnedObject> {
  expectOwnerKnown(state, owner)
  const view = state.storedView
  // Objects with fungible stores have rows of another family.
  const rows = mergeRows(
    scanRows(view, 'ownedObject', owner, options.start),
    scanRows(view, 'ownedStore', owner, options.start),
  )
  return createHoldingsPage(rows, options, ({ second: address }) => {
    const stored = readObject(view, address)
    if (!stored) return undefined
    const { object, group, version } = stored
    const { owner: owned, allowsUngatedTransfer } = object
    return { address, owner: owned, allowsUngatedTransfer, resources: typesIn(group), version }
  })
}

/**
 * The tokens of a collection, by address.
 * @throws `holdings_not_indexed`; `version_pruned` if a slice does not keep all tokens
 */
export function listTokens(
  state: LedgerState,
  collection: Uint8Array,
  options: HoldingsPageOptions = {},
): HoldingsPage<CollectionToken> {
  expectTokensKnown(state)
  const rows = scanRows(state.storedView, 'tokenOfCollection', collection, options.start)
  return createHoldingsPage(rows, options, ({ second: address }) => {
    const stored = readObject(state.storedView, address)
    return stored && { address, owner: stored.object.owner, version: stored.version }
  })
}

/** Texts of the types in a group, in its order. */
function typesIn(group: Uint8Array): string[] {
  return readResourceGroup(group).map(({ name }) => typeTagToText(name))
}
