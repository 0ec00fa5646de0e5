import { isLedgerStateError } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import { findGroupMember } from '@ledger-state/move-module'
import { resourceGroupKey, resourceKey, type StructTag, structTagToBytes, typeTagToText } from '@ledger-state/type-tag'
import { resourceNotFound, storedDataInvalid } from '../errors.js'
import type { LedgerState } from '../state/ledger-state.js'
import { createResource, type Resource } from './resource.js'

/**
 * Reads a resource by its type. The module that defines the type says, as of the version, whether the resource is
 * stored by itself or in a group.
 * @throws `resource_not_found`; `stored_data_invalid` if the group cannot be read
 */
export function readResource(state: LedgerState, address: Uint8Array, tag: StructTag): Resource {
  const { view, source } = state
  const group = resourceGroupOf(state, tag)
  const bytes = group ? readMember(view, address, group, tag) : view.get(resourceKey(address, tag))
  if (!bytes) throw resourceNotFound(address, typeTagToText(tag), view.version)
  return createResource(view, source.types, tag, bytes, storedDataInvalid.storedResourceUnreadable)
}

/** The state key in database form of a resource, or of its group if its module says that it is in one. */
export function resourceStateKey(state: LedgerState, address: Uint8Array, tag: StructTag): Uint8Array {
  const group = resourceGroupOf(state, tag)
  return group ? resourceGroupKey(address, group) : resourceKey(address, tag)
}

/**
 * The group that a resource is stored in; undefined if it is stored by itself, as resources of unreadable modules are.
 */
export function resourceGroupOf({ view, source }: LedgerState, tag: StructTag): StructTag | undefined {
  const module = source.modules.find(view, { address: tag.address, name: tag.module })
  try {
    return module?.read().structs.find(({ name }) => name === tag.name)?.resourceGroup
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_module')) return undefined
    throw error
  }
}

function readMember(view: StateView, address: Uint8Array, group: StructTag, tag: StructTag): Uint8Array | undefined {
  const bytes = view.get(resourceGroupKey(address, group))
  return bytes && findMember(bytes, structTagToBytes(tag))
}

/**
 * Finds a member of a group.
 * @throws `stored_data_invalid`
 */
export function findMember(group: Uint8Array, tag: Uint8Array): Uint8Array | undefined {
  try {
    return findGroupMember(group, tag)
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_bcs')) throw error
    throw storedDataInvalid.storedResourceUnreadable(error)
  }
}
