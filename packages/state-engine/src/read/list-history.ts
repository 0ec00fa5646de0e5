import { type LedgerInfo, type Revision, versionPruned } from '@ledger-state/core'
import { highHalf, lowHalf } from '../bytes/numbered-key.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { HistoryRange } from '../port/validate-arguments.js'
import { type Lookup, PRESENT } from './lookup.js'
import type { ReadSnapshot } from './read-snapshot.js'
import { type RevisionList, type RevisionPlace, readRevisionList } from './revision-list.js'

/**
 * The writes of a key that the window of `ledger` sees. Costs one get for each, besides the version list, which is read
 * once for each snapshot, as far as it is needed.
 */
export function* listHistory(
  store: LmdbStore,
  lookup: Lookup,
  snapshot: () => ReadSnapshot,
  key: Uint8Array,
  { first, last, isNewestFirst }: HistoryRange,
  { oldestVersion, latestVersion }: LedgerInfo,
): Generator<Revision> {
  let lowest = oldestVersion
  let highest = last === undefined || last > latestVersion ? latestVersion : last
  let seen: ReadSnapshot | undefined
  let list: RevisionList | undefined
  let place: RevisionPlace | undefined
  for (let isFirst = true; ; isFirst = false) {
    const current = snapshot()
    if (current !== seen) {
      seen = current
      expectNotOvertaken(current)
      list = readRevisionList(store, key, current.options)
      place = list && (isNewestFirst ? list.newestAtMost(highest) : startAt(list, isFirst))
    }
    if (!list || !place) return
    const version = list.versionAt(place)
    if (version < first || version > highest) return
    const supersededBy = list.supersededBy(place)
    // Below the oldest version, the window sees the newest write only, and no deletion.
    if (supersededBy !== undefined && supersededBy <= oldestVersion) return
    const value = read(list.keyId, version, supersededBy, current)
    if (value !== null || version > oldestVersion) yield { version, value }
    if (isNewestFirst) {
      if (version <= oldestVersion || version === 0n) return
      highest = version - 1n
      place = list.before(place)
    } else {
      if (version >= highest) return
      lowest = version + 1n
      place = list.after(place)
    }
  }

  /** The oldest version often sees a write from before it. */
  function startAt(versions: RevisionList, isFirst: boolean): RevisionPlace | undefined {
    if (!isFirst) return versions.oldestAtLeast(lowest)
    const newest = first <= oldestVersion ? versions.newestAtMost(oldestVersion) : undefined
    return newest && versions.versionAt(newest) >= first ? newest : versions.oldestAtLeast(first)
  }

  function expectNotOvertaken({ ledger }: ReadSnapshot): void {
    const { oldestVersion: oldestNow } = ledger!
    if (oldestNow > oldestVersion && oldestNow >= first) throw versionPruned(oldestVersion, oldestNow)
  }

  function read(keyId: number, version: bigint, supersededBy: bigint | undefined, { options }: ReadSnapshot) {
    const found =
      supersededBy === undefined
        ? lookup.find(key, highHalf(version), lowHalf(version), options)
        : lookup.findSuperseded(keyId, highHalf(supersededBy), lowHalf(supersededBy), options)
    return found === PRESENT ? lookup.copy() : null
  }
}
