import { versionTruncated } from '../errors.js'
import { branchOf, type LedgerInfo, type Truncation } from '../ports/state-port.js'

/** Most truncations that a ledger lists. */
const MOST_TRUNCATIONS = 16

/**
 * A list of truncations with a further one, unless it has that already. It gives for any two moments the lowest version
 * that was left between them, as long as it does not become too long: then its two oldest become one that cuts more.
 */
export function addTruncation(list: readonly Truncation[], added: Truncation): readonly Truncation[] {
  const newest = list.at(-1)
  if (newest && newest.number >= added.number) return list
  const longer = [...list.filter(({ version }) => version < added.version), added]
  if (longer.length <= MOST_TRUNCATIONS) return longer
  const [first, second, ...others] = longer as [Truncation, Truncation, ...Truncation[]]
  return [{ number: second.number, version: first.version }, ...others]
}

/** The truncation that comes next after those of a ledger. */
export function nextTruncation(ledger: LedgerInfo, version: bigint): Truncation {
  return { number: branchOf(ledger) + 1, version }
}

/** @throws `version_truncated` if the version of the ledger as it was before has been cut off */
export function expectNotTruncated(version: bigint, before: LedgerInfo, now: LedgerInfo | undefined): void {
  const known = branchOf(before)
  for (const truncation of now?.truncations ?? []) {
    if (truncation.number > known && truncation.version < version) throw versionTruncated(version)
  }
}
