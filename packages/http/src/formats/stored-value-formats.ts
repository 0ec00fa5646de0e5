import type { StoredValue } from '@ledger-state/ledger'
import { type ItemText, NULL } from './item-text.js'

/** Prints a stored value; null for one that was deleted. */
export function printStoredValue(value: StoredValue | undefined, text: ItemText): void {
  if (value) text.value(value)
  else text.json.raw(NULL)
}
