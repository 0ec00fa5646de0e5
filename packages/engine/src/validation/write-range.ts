import { versionPruned } from '../errors.js'
import type { WriteSearch } from '../ports/async-state-port.js'
import type { LedgerSummary } from '../ports/state-port.js'
import { expectObject, expectU64 } from './validate-arguments.js'
import { expectLedger } from './window.js'

/** The versions that a search for the nearest writes of keys looks at; empty if `last` is below `first`. */
export interface WriteRange {
  readonly first: bigint
  readonly last: bigint
  readonly isUpward: boolean
  /** Version at which the search begins. If a version above it is pruned, a write may be missing. */
  readonly begin: bigint
}

/** Checks the search of `AsyncStateSnapshot.nearestWrites`. @throws `invalid_argument`, `no_ledger` */
export function toWriteRange(search: WriteSearch, ledger: LedgerSummary | undefined): WriteRange {
  expectObject('the search', search)
  const isUpward = 'above' in search
  const begin = isUpward ? search.above : search.until
  expectU64('the version where the search begins', begin)
  const last = isUpward ? search.last : search.until
  expectU64('the last version', last)
  expectLedger(ledger)
  const { latestVersion } = ledger
  return { first: isUpward ? begin + 1n : 0n, last: last < latestVersion ? last : latestVersion, isUpward, begin }
}

/** Checks that no write that the search would find was pruned. @throws `version_pruned` if one may be gone */
export function expectSearchKept({ begin }: WriteRange, { oldestVersion }: Pick<LedgerSummary, 'oldestVersion'>): void {
  if (begin < oldestVersion) throw versionPruned(begin, oldestVersion)
}
