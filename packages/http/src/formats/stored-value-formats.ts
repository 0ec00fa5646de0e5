import { noSteps, type Steps } from '@ledger-state/core'
import type { StoredValue } from '@ledger-state/ledger'

/** JSON of a stored value, in steps if it is long; null for one that was deleted. */
export function storedValueToJson(value: StoredValue | undefined): Steps<string> {
  return value ? value.toJsonInSteps() : noSteps('null')
}
