import { branchOf, type LedgerSummary } from '@ledger-state/engine'

/** A place in the ledger that a client has seen: another reader, which showed it, may be ahead of this one. */
export interface SeenPlace {
  readonly version: bigint
  /** Whether a ledger has the place, or has moved on from its branch; true without a ledger, as nothing is to come. */
  readonly isIn: (ledger: LedgerSummary | undefined) => boolean
}

/** @param branch number of the newest truncation that the client has seen */
export function seenPlace(version: bigint, branch: number): SeenPlace {
  return {
    version,
    isIn(ledger) {
      if (!ledger) return true
      const newest = branchOf(ledger)
      return newest === branch ? version <= ledger.latestVersion : newest > branch
    },
  }
}
