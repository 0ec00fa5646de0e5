import { versionPruned } from '@ledger-state/engine'
import { decodeGroupedVersions, type GroupedVersion } from '@ledger-state/records/transaction-blocks'
import { transactionsPruned } from '../errors.js'
import type { LedgerState } from '../state/ledger-state.js'
import { type IndexKey, indexedVersions, numberAt } from './indexed-versions.js'

/** A list by number, in which each item is checked before it is shown. */
export interface NumberedList {
  /** Whether the items of a version are left out: a list without a start begins after versions that are not kept. */
  leavesOut(version: bigint): boolean
  /** @throws `version_pruned` if items between the one before and this one may not be kept */
  expectNext(version: bigint, number: bigint): void
  /**
   * Called if no more items are found.
   * @param count number of items that the ledger has had, if it is known
   * @throws `version_pruned` if items after the last one may not be kept
   */
  expectEnd(count?: () => bigint): void
}

/**
 * Begins a list at the number `start`, or where all items are kept. Numbers ascend without gaps in a ledger, but made
 * ones have gaps. So a missing number counts only where versions without their transactions lie between two items.
 * @throws `version_pruned` if the transaction of the newest version is not kept
 */
export function numberedList(
  state: LedgerState,
  index: IndexKey,
  what: 'event' | 'transaction',
  start: bigint | undefined,
): NumberedList {
  const { givenSince, completeSince, oldestVersion } = state.transactions
  if (start === undefined)
    return { leavesOut: (version) => version < completeSince, expectNext: () => {}, expectEnd: () => {} }
  let next = start
  let isBegun = false
  /** Whether every version after the last item has its transaction. */
  let isComplete = completeSince === 0n
  const expectNotPruned = () => {
    const before = lastNumberBefore(state, index, completeSince)
    if (!before || before.number < next) return before
    if (before.version < oldestVersion) throw versionPruned(before.version, completeSince)
    throw transactionsPruned.numberMissing(what, next, completeSince)
  }
  return {
    leavesOut: () => false,
    expectNext(version, number) {
      if (!isComplete && number > next) {
        if (isBegun || version < completeSince) throw transactionsPruned.numberMissing(what, next, completeSince)
        expectNotPruned()
      }
      next = number + 1n
      isBegun = true
      isComplete ||= version >= completeSince
    },
    expectEnd(count) {
      if (isComplete) return
      const newest = numberAt(state, index, state.version)
      // Numbers ascend, so the versions before have none that follows the newest one.
      if (newest && newest.version >= completeSince && newest.number < next) return
      const before = expectNotPruned()
      const areAllKnown = before ? before.version >= givenSince : givenSince === 0n && isWithState(state, completeSince)
      if (areAllKnown || (count && count() <= next)) return
      throw transactionsPruned.numberMissing(what, next, completeSince)
    },
  }
}

/** The last number before a version, whose transaction is not kept: by the index, or by the number that follows it. */
function lastNumberBefore(state: LedgerState, index: IndexKey, since: bigint): GroupedVersion | undefined {
  const entry = isWithState(state, since) ? state.transactions.viewAt(since).getEntry(index.key) : undefined
  if (entry && entry.version < since) {
    const { versions } = decodeGroupedVersions(entry.value, index.hasNumbers)
    const last = versions.findLast(({ version }) => version < since)
    if (last) return last
  }
  for (const { number } of indexedVersions(state, index, { first: since, order: 'asc' })) {
    return number > 0n ? { version: since - 1n, number: number - 1n } : undefined
  }
  return undefined
}

/** Whether the state of a version is kept, not only its transaction. */
function isWithState({ ledger }: LedgerState, version: bigint): boolean {
  return version >= ledger.oldestVersion
}
