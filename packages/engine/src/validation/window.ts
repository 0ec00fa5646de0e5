import { invalidArgument, noLedger, versionNotFound, versionPruned } from '../errors.js'
import type { HistoryPage } from '../ports/async-state-port.js'
import type { LedgerSummary, Revision } from '../ports/state-port.js'
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

/** A step of a history, which a prune may have overtaken. */
interface HistoryStep {
  /** First version of the history. */
  readonly first: bigint
  readonly isNewestFirst: boolean
  /** Version at which the search for the next write began. */
  readonly from: bigint
}

/**
 * Whether the next write that was found in a history is the one that the window at its beginning has. A history that
 * begins with the newest write goes on down to the write that the new oldest version sees.
 * @param found the next write; undefined if none was found
 * @param asked the window at the beginning of the history
 * @param now the window in which the write was found
 */
export function isStepKept(
  found: Pick<Revision, 'version' | 'value'> | undefined,
  { first, isNewestFirst, from }: HistoryStep,
  asked: Pick<LedgerSummary, 'oldestVersion'>,
  { oldestVersion }: Pick<LedgerSummary, 'oldestVersion'>,
): boolean {
  if (oldestVersion <= asked.oldestVersion || oldestVersion < first) return true
  if (!isNewestFirst || from < oldestVersion || !found) return false
  return found.version > oldestVersion || found.value !== null
}

/**
 * The writes of a page of a history that the window at its beginning has, and where the next page begins.
 * @param isCut whether the history has further writes after those that were found
 * @throws `version_pruned` if a prune has overtaken the page
 */
export function keptPage(
  found: readonly Revision[],
  isCut: boolean,
  step: HistoryStep,
  asked: LedgerSummary,
  now: Pick<LedgerSummary, 'oldestVersion'>,
): HistoryPage {
  const revisions: Revision[] = []
  let { from } = step
  for (const revision of found) {
    if (!isStepKept(revision, { ...step, from }, asked, now)) break
    revisions.push(revision)
    from = step.isNewestFirst ? revision.version - 1n : revision.version + 1n
  }
  const isWhole = revisions.length === found.length && (isCut || isStepKept(undefined, { ...step, from }, asked, now))
  if (revisions.length === 0 && !isWhole) throw versionPruned(asked.oldestVersion, now.oldestVersion)
  const isEnd = isWhole ? !isCut : step.isNewestFirst && (from < step.first || from < asked.oldestVersion)
  return { revisions, next: isEnd ? undefined : from }
}
