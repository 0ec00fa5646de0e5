import { invalidArgument, noLedger, versionNotFound, versionPruned } from '../errors.js'
import type { LedgerSummary } from '../ports/state-port.js'
import { expectU64 } from './validate-arguments.js'

/** Checks that there is a ledger. @throws `no_ledger` */
export function expectLedger(ledger: LedgerSummary | undefined): asserts ledger is LedgerSummary {
  if (!ledger) throw noLedger()
}

/**
 * Checks that a version is in the window.
 * @throws `invalid_argument`; `version_not_found`, `version_pruned` outside the window
 */
export function expectKept(version: bigint, ledger: LedgerSummary): void {
  expectU64('the version', version)
  if (version > ledger.latestVersion) throw versionNotFound(version)
  if (version < ledger.oldestVersion) throw versionPruned(version, ledger.oldestVersion)
}

/**
 * Lowest version that a window of `retainVersions` versions has to keep. The new window begins at the block that this
 * version belongs to.
 * @throws `invalid_argument`
 */
export function windowStart({ oldestVersion, latestVersion }: LedgerSummary, retainVersions: bigint): bigint {
  if (typeof retainVersions !== 'bigint' || retainVersions < 1n) {
    throw invalidArgument('the number of versions to retain', 'a bigint of at least 1', retainVersions)
  }
  const start = latestVersion - retainVersions + 1n
  return start > oldestVersion ? start : oldestVersion
}

/**
 * Checks that `versions(first, last)` can list a range. All of its versions must be above the oldest: the writes of the
 * oldest version are not distinguished from earlier ones.
 * @throws `no_ledger`, `invalid_argument`, `version_not_found`, `version_pruned`
 */
export function expectListable(
  first: bigint,
  last: bigint,
  ledger: LedgerSummary | undefined,
): asserts ledger is LedgerSummary {
  expectU64('the first version', first)
  expectU64('the last version', last)
  expectLedger(ledger)
  if (last > ledger.latestVersion) throw versionNotFound(last)
  if (first <= ledger.oldestVersion) throw versionPruned(first, ledger.oldestVersion)
}

/** Number of records of a step of a prune, so that commits and other work take place between the steps. */
export const PRUNE_STEP_RECORDS = 2_000

/**
 * Checks the result of a search for a block.
 * @param found the block; undefined if none was found
 * @param asked the ledger of the snapshot
 * @param now the window in which it was searched
 * @throws `version_pruned` if the block may have been pruned since the snapshot
 */
export function expectBlockKept(
  found: object | undefined,
  asked: Pick<LedgerSummary, 'oldestVersion'>,
  now: Pick<LedgerSummary, 'oldestVersion'>,
): void {
  if (!found && now.oldestVersion > asked.oldestVersion) throw versionPruned(asked.oldestVersion, now.oldestVersion)
}
