import { isLedgerStateError, type KeyedEntry, type Steps } from '@ledger-state/core'
import type { GroupMember } from '@ledger-state/move-module'
import { decodeStateKey, type StructTag } from '@ledger-state/type-tag'
import { scanAccount } from '../accounts/scan-account.js'
import { storedDataInvalid } from '../errors.js'
import { shownMembersInSteps } from '../groups/shown-members.js'
import { createListing, type Listing, type ListOptions } from '../listings/listing.js'
import type { LedgerState } from '../state/ledger-state.js'
import { createResource, type Resource } from './resource.js'

/**
 * The resources of an account in the order of their state keys' bytes. A group is replaced by its members.
 * @throws (the iteration) `stored_data_invalid` if a group cannot be read; `version_pruned`
 */
export function listResources(state: LedgerState, address: Uint8Array, options: ListOptions = {}): Listing<Resource> {
  const listing = listResourcesInSteps(state, address, options)
  return {
    get cursor() {
      return listing.cursor
    },
    *[Symbol.iterator]() {
      for (const resource of listing) if (resource) yield resource
    },
  }
}

/** The same. Undefined is a chance to pause: a group may have 20,000 members. */
export function listResourcesInSteps(
  state: LedgerState,
  address: Uint8Array,
  { start, ...ends }: ListOptions = {},
): Listing<Resource | undefined> {
  const { view, source } = state
  return createListing(scanAccount(view, address, 'resources', start), ends, function* (entry) {
    for (const { name, bytes } of yield* readMembers(entry)) {
      yield createResource(view, source.types, name, bytes, storedDataInvalid.listedResourceUnreadable)
    }
  })
}

/** The members of a group; for a resource that is stored by itself, only that resource. */
function* readMembers({ key, value }: KeyedEntry): Steps<readonly GroupMember<StructTag>[]> {
  try {
    const decoded = decodeStateKey(key)
    if (decoded.kind === 'resource') return [{ name: decoded.tag, bytes: value }]
    return yield* shownMembersInSteps(value)
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_bcs')) throw error
    throw storedDataInvalid.listedResourceUnreadable(error)
  }
}
