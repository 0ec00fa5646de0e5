import { branchOf } from '@ledger-state/engine'
import { type NearPlace, versionPlace } from '../../admission/near-place.js'

/** A place in the ledger that a client has seen: another reader, which showed it, may be ahead of this one. */
export interface SeenPlace extends NearPlace {
  readonly version: bigint
}

/**
 * The place of a version on a branch. A ledger that has moved on from the branch counts as having it, and so does an
 * empty store, as nothing is to come.
 * @param branch number of the newest truncation that the client has seen
 */
export function seenPlace(version: bigint, branch: number): SeenPlace {
  return {
    ...versionPlace(version),
    version,
    isIn(ledger) {
      if (!ledger) return true
      const newest = branchOf(ledger)
      return newest === branch ? version <= ledger.latestVersion : newest > branch
    },
  }
}
