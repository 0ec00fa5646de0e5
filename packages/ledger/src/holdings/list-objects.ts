import { atOnce, type Steps } from '@ledger-state/core'
import { readGroupMembersInSteps } from '@ledger-state/move-module'
import { readStructTag, typeTagToText } from '@ledger-state/type-tag'
import type { LedgerState } from '../state/ledger-state.js'
import { readObject, type StoredObject } from './holding.js'
import { expectOwnerKnown, expectTokensKnown } from './known-holdings.js'
import { createHoldingsPage, type HoldingsPage, type HoldingsPageOptions, mergeRows, scanRows } from './row-listing.js'

/** An object that an account or another object owns. */
export interface OwnedObject {
  readonly address: Uint8Array
  readonly owner: Uint8Array
  readonly allowsUngatedTransfer: boolean
  /** The resource group in BCS: a map from struct tags to bytes. */
  readonly group: Uint8Array
  /** Version that last wrote the group. */
  readonly version: bigint
}

/** An owned object in a list of objects. */
export interface ListedObject extends OwnedObject {
  /** Types of the members of its resource group, which are read each time: a group may have 20,000 members. */
  readonly resources: readonly string[]
  /** The same in steps. */
  resourcesInSteps(): Steps<readonly string[]>
}

/** Reads one object by its address; undefined if there is none. @throws `version_pruned` if a slice does not keep it */
export function readOwnedObject({ view }: LedgerState, address: Uint8Array): OwnedObject | undefined {
  const stored = readObject(view, address)
  return stored && toOwnedObject(address, stored)
}

/**
 * The objects that an account or an object owns directly, by address.
 * @throws `holdings_not_indexed`; `version_pruned` if a slice has not kept the account since its beginning
 */
export function listOwnedObjects(
  state: LedgerState,
  owner: Uint8Array,
  options: HoldingsPageOptions = {},
): HoldingsPage<ListedObject> {
  expectOwnerKnown(state, owner)
  const view = state.storedView
  // Objects with fungible stores have rows of another family.
  const rows = mergeRows(
    scanRows(view, 'ownedObject', owner, options.start),
    scanRows(view, 'ownedStore', owner, options.start),
  )
  return createHoldingsPage(rows, options, ({ second: address }) => {
    const stored = readObject(view, address)
    return (
      stored && {
        ...toOwnedObject(address, stored),
        get resources() {
          return atOnce(typesIn(stored.group))
        },
        resourcesInSteps: () => typesIn(stored.group),
      }
    )
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
): HoldingsPage<OwnedObject> {
  expectTokensKnown(state)
  const rows = scanRows(state.storedView, 'tokenOfCollection', collection, options.start)
  return createHoldingsPage(rows, options, ({ second: address }) => {
    const stored = readObject(state.storedView, address)
    return stored && toOwnedObject(address, stored)
  })
}

function toOwnedObject(address: Uint8Array, { object, group, version }: StoredObject): OwnedObject {
  return { address, owner: object.owner, allowsUngatedTransfer: object.allowsUngatedTransfer, group, version }
}

/** Texts of the types in a group, in its order. */
function* typesIn(group: Uint8Array): Steps<readonly string[]> {
  const members = yield* readGroupMembersInSteps(group, (reader) => typeTagToText(readStructTag(reader)))
  return members.map(({ name }) => name)
}
