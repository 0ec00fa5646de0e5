import type { BlockEntry } from '@ledger-state/engine/authoring'
import type { SegmentSlice } from './segment-slices.js'

/** A block, and the first version of the one after it, if that is known without a further search. */
export interface SegmentBlock extends BlockEntry {
  readonly next: bigint | undefined
}

/** The newest block in segment files that begins at or below a version. @throws `store_corrupt` */
export function newestSegmentBlock(slices: readonly SegmentSlice[], version: bigint): SegmentBlock | undefined {
  for (const { row, lists } of slices) {
    if (row.firstVersion > version) continue
    const most = version < row.until ? version : row.until
    const count = lists.countAtMost(most)
    if (count === 0) continue
    const list = lists.at(count - 1)
    const place = list.countAtMost(most)
    const next = place < list.count ? list.versionAt(place) : undefined
    const { firstVersion, block } = list.at(place - 1)
    return { firstVersion, block, next: next !== undefined && next <= row.until ? next : undefined }
  }
  return undefined
}

/** Number of blocks in segment files that begin from one version to another. @throws `store_corrupt` */
export function countSegmentBlocks(slices: readonly SegmentSlice[], first: bigint, last: bigint): number {
  let count = 0
  for (const { row, lists } of slices) {
    if (row.until < first || row.firstVersion > last) continue
    const most = last < row.until ? last : row.until
    for (let list = Math.max(0, lists.countAtMost(first) - 1); list < lists.countAtMost(most); list++) {
      const blocks = lists.at(list)
      count += blocks.countAtMost(most) - (first > 0n ? blocks.countAtMost(first - 1n) : 0)
    }
  }
  return count
}

/** First version of the oldest block in segment files that begins above a version. @throws `store_corrupt` */
export function nextSegmentBlock(slices: readonly SegmentSlice[], version: bigint): bigint | undefined {
  for (let at = slices.length - 1; at >= 0; at--) {
    const { row, lists } = slices[at]!
    if (row.until <= version) continue
    const count = lists.countAtMost(version)
    let next: bigint | undefined
    if (count > 0) {
      const list = lists.at(count - 1)
      const within = list.countAtMost(version)
      if (within < list.count) next = list.versionAt(within)
    }
    next ??= count < lists.count ? lists.firstOf(count) : undefined
    if (next !== undefined && next <= row.until) return next
  }
  return undefined
}
