import type { BlockInfo } from '@ledger-state/core'
import type { Block, LedgerSummary } from '@ledger-state/engine'

/**
 * Finds the newest block of the window whose measure (height or time) is at or below a target. Measures never fall from
 * block to block. If blocks are evenly spread, it finds the block after a few reads. Every second guess halves the
 * span, so no spread needs more than two reads for each bit of a version.
 */
export function newestBlockAtMost(
  { oldestVersion, latestVersion }: LedgerSummary,
  blockAt: (version: bigint) => Block,
  measure: (block: BlockInfo) => bigint,
  target: bigint,
): Block | undefined {
  let low = blockAt(oldestVersion)
  if (measure(low.block) > target) return undefined
  let high = blockAt(latestVersion)
  if (measure(high.block) <= target) return high
  // The measure of `low` is at most the target, that of `high` above it.
  for (let halves = false; low.lastVersion + 1n < high.firstVersion; halves = !halves) {
    const span = high.firstVersion - low.firstVersion
    const share = halves ? span >> 1n : interpolate(span, measure(low.block), measure(high.block), target)
    const guess = low.firstVersion + share
    const found = blockAt(guess > low.lastVersion ? guess : low.lastVersion + 1n)
    if (measure(found.block) > target) high = found
    else low = found
    // The guess is often one block off the answer.
    const neighbour = blockAt(found === low ? low.lastVersion + 1n : high.firstVersion - 1n)
    if (measure(neighbour.block) > target) {
      if (found === low) return low
    } else if (found === high) return neighbour
    if (found === low) low = neighbour
    else high = neighbour
  }
  return low
}

/** Part of the span in proportion to the target, below the whole span. */
function interpolate(span: bigint, low: bigint, high: bigint, target: bigint): bigint {
  return (span * (target - low)) / (high - low)
}
