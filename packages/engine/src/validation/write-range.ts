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

/**
 * Checks the result of a search. For each key, a prune keeps the newest write at or below the oldest version, unless
 * that write is a deletion.
 * @param found the nearest write of each key; undefined if none was found
 * @param asked the ledger of the snapshot
 * @param now the window in which it was searched
 * @throws `version_pruned` if writes that the search would find may be gone
 */
export function expectSearchKept(
  { begin, isUpward }: WriteRange,
  found: readonly (bigint | undefined)[],
  asked: Pick<LedgerSummary, 'oldestVersion'>,
  now: Pick<LedgerSummary, 'oldestVersion'>,
): void {
  if (begin < now.oldestVersion) throw versionPruned(begin, now.oldestVersion)
  const isPruned = now.oldestVersion > asked.oldestVersion
  if (!isUpward && isPruned && found.includes(undefined)) throw versionPruned(asked.oldestVersion, now.oldestVersion)
}
