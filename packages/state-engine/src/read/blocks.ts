import type { BlockInfo } from '@ledger-state/core'
import type { Block } from '@ledger-state/engine'
import { type BlockEntry, storeCorrupt } from '@ledger-state/engine/authoring'
import { newestSegmentBlock, nextSegmentBlock } from './merged-blocks.js'
import type { ReadSnapshot } from './read-snapshot.js'

/** Finds the block that a version of the window belongs to. */
export function blockWith(snapshot: ReadSnapshot, version: bigint): Block {
  const { slices, ledger, record } = snapshot
  const { latestVersion } = ledger!
  const inMemtable = version > record!.ledger.latestVersion ? newestInMemtable(snapshot, version) : undefined
  const merged = inMemtable ? undefined : newestSegmentBlock(slices, version)
  const found = inMemtable ?? merged
  if (!found) throw storeCorrupt(`no block has version ${version}`)
  const { firstVersion, block } = found
  if (version === latestVersion) return { firstVersion, block, lastVersion: version }
  const next = merged && (merged.next ?? nextSegmentBlock(slices, version))
  const following = next ?? nextInMemtable(snapshot, version)
  // The memtable may be ahead of the snapshot, and may have blocks that a truncation has not removed yet.
  const lastVersion = following !== undefined && following <= latestVersion ? following - 1n : latestVersion
  return { firstVersion, block, lastVersion }
}

/** The block that begins with a version; undefined if none does. */
export function blockBeginningAt(snapshot: ReadSnapshot, version: bigint): BlockInfo | undefined {
  const isMerged = version <= snapshot.record!.ledger.latestVersion
  const found = isMerged ? newestSegmentBlock(snapshot.slices, version) : newestInMemtable(snapshot, version)
  return found?.firstVersion === version ? found.block : undefined
}

function newestInMemtable({ memtable }: ReadSnapshot, version: bigint): BlockEntry | undefined {
  for (let at = memtable.segments.length - 1; at >= 0; at--) {
    const found = memtable.segments[at]!.blocks.newestAtMost(version)
    if (found) return found
  }
  return undefined
}

/** First version of the next block of the memtable above a version. */
function nextInMemtable({ memtable }: ReadSnapshot, version: bigint): bigint | undefined {
  for (const { blocks } of memtable.segments) {
    const found = blocks.oldestAbove(version)
    if (found) return found.firstVersion
  }
  return undefined
}
