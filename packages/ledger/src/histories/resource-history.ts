import type { StructTag } from '@ledger-state/type-tag'
import { storedDataInvalid } from '../errors.js'
import { resourceGroupOf } from '../resources/read-resource.js'
import { createResource, type Resource } from '../resources/resource.js'
import type { LedgerState } from '../state/ledger-state.js'
import { type Change, type ChangeHistoryOptions, createHistory, type History } from './history.js'
import { observeResource } from './observations.js'
import { viewOfChange } from './view-of-change.js'

/**
 * The versions at which a resource changed, up to the version of the state; its value is undefined after a deletion.
 * Its module, as of the version of the state, says whether it is stored in a group. Each value is decoded with the
 * layouts of its own version.
 * @throws (the iteration) `stored_data_invalid` if a group cannot be read
 */
export function resourceHistory(
  state: LedgerState,
  address: Uint8Array,
  tag: StructTag,
  options: ChangeHistoryOptions = {},
): History<Change<Resource | undefined>> {
  const { reader, types } = state.source
  const observation = observeResource(address, tag, resourceGroupOf(state, tag))
  return createHistory(reader, state, observation, options, (bytes, version) => {
    return bytes
      ? createResource(viewOfChange(state, version), types, tag, bytes, storedDataInvalid.storedResourceUnreadable)
      : undefined
  })
}
