import { tableItemKey } from '@ledger-state/type-tag'
import type { LedgerState } from '../state/ledger-state.js'
import { createTableValue, type TableItemRequest, tableItemStateKey } from '../tables/table-item.js'
import type { StoredValue } from '../types/stored-value.js'
import { type Change, type ChangeHistoryOptions, createHistory, type History } from './history.js'
import { observeKey } from './observations.js'
import { viewOfChange } from './view-of-change.js'

/**
 * The versions at which a table item changed, up to the version of the state; its value is undefined after a deletion.
 * Each value is decoded with the layouts of its own version.
 * @throws `invalid_value` as `readTableItem`
 */
export function tableItemHistory(
  state: LedgerState,
  request: TableItemRequest,
  options: ChangeHistoryOptions = {},
): History<Change<StoredValue | undefined>> {
  const { reader, types } = state.source
  const observation = observeKey(tableItemStateKey(state, request))
  return createHistory(reader, state, observation, options, (bytes, version) => {
    return bytes ? createTableValue(viewOfChange(state, version), types, request.valueType, bytes) : undefined
  })
}

/** Same as `tableItemHistory`, by the BCS of the key, with the stored bytes. */
export function rawTableItemHistory(
  state: LedgerState,
  handle: Uint8Array,
  key: Uint8Array,
  options: ChangeHistoryOptions = {},
): History<Change<Uint8Array | undefined>> {
  const observation = observeKey(tableItemKey(handle, key))
  return createHistory(state.source.reader, state, observation, options, (bytes) => bytes ?? undefined)
}
