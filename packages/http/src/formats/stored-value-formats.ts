import type { StoredValue } from '@ledger-state/ledger'

/** JSON of a stored value; null for one that was deleted. */
export function storedValueToJson(value: StoredValue | undefined): string {
  return value?.toJson() ?? 'null'
}
