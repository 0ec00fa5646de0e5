import { versionTruncated } from '../errors.js'
import { branchOf, type LedgerSummary, type Truncation } from '../ports/state-port.js'

/** Most truncations that a ledger lists. */
const MOST_TRUNCATIONS = 16

/**
 * Adds a truncation to a list, unless the list has it already. For any two moments the list gives the lowest version
 * that was left between them. If it becomes too long, its two oldest become one that cuts more.
 */
export function addTruncation(list: readonly Truncation[], added: Truncation): readonly Truncation[] {
  const newest = list.at(-1)
  if (newest && newest.number >= added.number) return list
  const longer = [...list.filter(({ version }) => version < added.version), added]
  if (longer.length <= MOST_TRUNCATIONS) return longer
  const [first, second, ...others] = longer as [Truncation, Truncation, ...Truncation[]]
  return [{ number: second.number, version: first.version }, ...others]
}

/** The next truncation of a ledger. */
export function nextTruncation(ledger: LedgerSummary, version: bigint): Truncation {
  return { number: branchOf(ledger) + 1, version }
}

/**
 * Checks that a version of an earlier ledger was not cut off since.
 * @throws `version_truncated` if it was cut off
 */
export function expectNotTruncated(version: bigint, before: LedgerSummary, now: LedgerSummary | undefined): void {
  const known = branchOf(before)
  for (const truncation of now?.truncations ?? []) {
    if (truncation.number > known && truncation.version < version) throw versionTruncated(version)
  }
}
