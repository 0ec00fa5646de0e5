import { isLedgerStateError, type KeyedEntry, type Steps } from '@ledger-state/core'
import type { GroupMember } from '@ledger-state/move-module'
import { decodeStateKey, type StructTag, tagOfResourceKey } from '@ledger-state/type-tag'
import { scanAccount } from '../accounts/scan-account.js'
import { storedDataInvalid } from '../errors.js'
import { shownMembersInSteps } from '../groups/shown-members.js'
import { createPagedListing, type Listing, type ListOptions, toListing } from '../listings/listing.js'
import type { LedgerState } from '../state/ledger-state.js'
import { createListedResource, createResource, type Resource } from './resource.js'

/**
 * The resources of an account in the order of their state keys' bytes. A group is replaced by its members.
 * @throws (the iteration) `stored_data_invalid` if a group cannot be read; `version_pruned`
 */
export function listResources(state: LedgerState, address: Uint8Array, options: ListOptions = {}): Listing<Resource> {
  return toListing(listResourcesInSteps(state, address, options))
}

/** The same. It also yields undefined, so that the caller can pause: a group may have 20,000 members. */
export function listResourcesInSteps(
  state: LedgerState,
  address: Uint8Array,
  { start, ...ends }: ListOptions = {},
): Listing<Resource | undefined> {
  const entries = scanAccount(state.view, address, 'resources', start)
  return createPagedListing(ends, function* (isEnd) {
    for (const entry of entries) {
      if (isEnd(entry)) return
      const tag = tagOfResourceKey(entry.key)
      if (tag) yield createListedResource(state, tag, entry.value)
      else yield* readMembers(state, entry)
    }
  })
}

/** The members of a group, in steps. */
function* readMembers({ view, source }: LedgerState, { key, value }: KeyedEntry): Generator<Resource | undefined> {
  for (const { name, bytes } of yield* decodeMembers(key, value)) {
    yield createResource(view, source.types, name, bytes, storedDataInvalid.listedResourceUnreadable)
  }
}

/** A key that is none of a group is one that cannot be read. */
function* decodeMembers(key: Uint8Array, value: Uint8Array): Steps<readonly GroupMember<StructTag>[]> {
  try {
    decodeStateKey(key)
    return yield* shownMembersInSteps(value)
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_bcs')) throw error
    throw storedDataInvalid.listedResourceUnreadable(error)
  }
}
