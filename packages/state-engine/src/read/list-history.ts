import { expectNotTruncated, type LedgerSummary, type Revision, versionPruned } from '@ledger-state/engine'
import { type HistoryRange, isStepKept, storedToValue } from '@ledger-state/engine/authoring'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { ReadSnapshot } from './read-snapshot.js'
import { RevisionCursor } from './revision-cursor.js'

/** Lists the writes of a key that the window of `ledger` sees. */
export function* listHistory(
  store: LmdbStore,
  snapshot: () => ReadSnapshot,
  key: Uint8Array,
  { first, last, isNewestFirst }: HistoryRange,
  asked: LedgerSummary,
): Generator<Revision> {
  const { oldestVersion, latestVersion } = asked
  const cursor = new RevisionCursor(store)
  const highest = last === undefined || last > latestVersion ? latestVersion : last
  let seen: ReadSnapshot | undefined
  let told: bigint | undefined
  for (;;) {
    const current = snapshot()
    let isThere: boolean
    if (current === seen) isThere = isNewestFirst ? cursor.older() : cursor.newer()
    else {
      seen = current
      expectNotTruncated(highest, asked, current.ledger)
      cursor.open(key, current)
      isThere = isNewestFirst ? goToNewest() : goToOldest()
    }
    const found = isThere ? { version: cursor.version, value: cursor.stored() } : undefined
    if (current.ledger!.oldestVersion !== oldestVersion) expectNotOvertaken(current, found)
    if (!found) return
    const { version, value: stored } = found
    if (version < first || version > highest) return
    told = version
    // The window sees only the newest of the writes up to the oldest version, and no deletion.
    if (stored) yield revisionOf(version, stored)
    else if (version > oldestVersion) yield { version, value: null }
    if (isNewestFirst && (version <= first || version <= oldestVersion)) return
  }

  function goToNewest(): boolean {
    const from = told === undefined ? highest : told - 1n
    // If the range ends below the window, it may have the write that the oldest version sees.
    return cursor.newestAtMost(from > oldestVersion ? from : oldestVersion)
  }

  function goToOldest(): boolean {
    if (told !== undefined) {
      cursor.newestAtMost(told)
      return cursor.newer()
    }
    const from = first > oldestVersion ? first : oldestVersion
    return (cursor.newestAtMost(from) && cursor.version >= first) || cursor.newer()
  }

  function expectNotOvertaken({ ledger }: ReadSnapshot, found: Pick<Revision, 'version' | 'value'> | undefined): void {
    const step = { first, isNewestFirst, from: isNewestFirst && told !== undefined ? told - 1n : highest }
    if (!isStepKept(found, step, asked, ledger!)) throw versionPruned(oldestVersion, ledger!.oldestVersion)
  }
}

function revisionOf(version: bigint, stored: Uint8Array): Revision {
  const { value, annotation } = storedToValue(stored)
  return annotation ? { version, value, annotation } : { version, value }
}
