import { annotationToNote } from '@ledger-state/records'
import type { StateValue } from '@ledger-state/type-tag'
import { stateValueNotFound } from '../errors.js'
import type { LedgerState } from '../state/ledger-state.js'

/**
 * Reads the value of any state key in database form, and its metadata.
 * @throws `state_value_not_found`
 */
export function readStateValue({ view, version }: LedgerState, key: Uint8Array): StateValue {
  const entry = view.getEntry(key)
  if (!entry) throw stateValueNotFound(key, version)
  return { value: entry.value, metadata: annotationToNote(entry.annotation).metadata }
}
