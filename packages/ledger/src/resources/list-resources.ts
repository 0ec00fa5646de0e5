import { isLedgerStateError, type KeyedEntry } from '@ledger-state/core'
import { type GroupMember, readResourceGroup } from '@ledger-state/move-module'
import { decodeStateKey, type StructTag } from '@ledger-state/type-tag'
import { scanAccount } from '../accounts/scan-account.js'
import { storedDataInvalid } from '../errors.js'
import { compareStructTags } from '../groups/compare-struct-tags.js'
import { createListing, type Listing, type ListOptions } from '../listings/listing.js'
import type { LedgerState } from '../state/ledger-state.js'
import { createResource, type Resource } from './resource.js'

/**
 * The resources of an account in the order of their state keys' bytes. A group is replaced by its members.
 * @throws (the iteration) `stored_data_invalid` if a group cannot be read; `version_pruned`
 */
export function listResources(
  state: LedgerState,
  address: Uint8Array,
  { start, ...ends }: ListOptions = {},
): Listing<Resource> {
  const { view, source } = state
  return createListing(scanAccount(view, address, 'resources', start), ends, function* (entry) {
    for (const { name, bytes } of readMembers(entry)) {
      yield createResource(view, source.types, name, bytes, storedDataInvalid.listedResourceUnreadable)
    }
  })
}

/** The members of a group; for a resource that is stored by itself, only that resource. */
function readMembers({ key, value }: KeyedEntry): readonly GroupMember<StructTag>[] {
  try {
    const decoded = decodeStateKey(key)
    if (decoded.kind === 'resource') return [{ name: decoded.tag, bytes: value }]
    return readResourceGroup(value).toSorted((a, b) => compareStructTags(a.name, b.name))
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_bcs')) throw error
    throw storedDataInvalid.listedResourceUnreadable(error)
  }
}
