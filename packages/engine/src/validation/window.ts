import { invalidArgument, noLedger, versionNotFound, versionPruned } from '../errors.js'
import type { LedgerInfo } from '../ports/state-port.js'
import { expectU64 } from './validate-arguments.js'

/** @throws `no_ledger` */
export function expectLedger(ledger: LedgerInfo | undefined): asserts ledger is LedgerInfo {
  if (!ledger) throw noLedger()
}

/** @throws `invalid_argument`; `version_not_found`, `version_pruned` outside the window */
export function expectKept(version: bigint, ledger: LedgerInfo): void {
  expectU64('the version', version)
  if (version > ledger.latestVersion) throw versionNotFound(version)
  if (version < ledger.oldestVersion) throw versionPruned(version, ledger.oldestVersion)
}

/**
 * Lowest version that a window of this number of versions has to keep: the new window begins at the block that it belongs to.
 * @throws `invalid_argument`
 */
export function windowStart({ oldestVersion, latestVersion }: LedgerInfo, retainVersions: bigint): bigint {
  if (typeof retainVersions !== 'bigint' || retainVersions < 1n) {
    throw invalidArgument('the number of versions to retain', 'a bigint of at least 1', retainVersions)
  }
  const start = latestVersion - retainVersions + 1n
  return start > oldestVersion ? start : oldestVersion
}

/**
 * The versions that `versions(first, last)` lists are above the oldest: what the oldest version wrote is not kept apart
 * from what was written before it.
 * @throws `no_ledger`, `invalid_argument`, `version_not_found`, `version_pruned`
 */
export function expectListable(
  first: bigint,
  last: bigint,
  ledger: LedgerInfo | undefined,
): asserts ledger is LedgerInfo {
  expectU64('the first version', first)
  expectU64('the last version', last)
  expectLedger(ledger)
  if (last > ledger.latestVersion) throw versionNotFound(last)
  if (first <= ledger.oldestVersion) throw versionPruned(first, ledger.oldestVersion)
}

/** Prunes work in steps of this number of records, so that commits and other work get their turn between them. */
export const PRUNE_STEP_RECORDS = 2_000
