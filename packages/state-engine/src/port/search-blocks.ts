import type { Block, BlockInfo, LedgerInfo } from '@ledger-state/core'

/**
 * The newest block of a window for which something holds that held for all blocks before it. Undefined where it does not
 * hold for the oldest. Halves the span of versions with each block that it looks at.
 */
export function newestBlockWhere(
  ledger: LedgerInfo,
  blockAt: (version: bigint) => Block,
  holds: (block: BlockInfo) => boolean,
): Block | undefined {
  let found: Block | undefined
  let low = ledger.oldestVersion
  let high = ledger.latestVersion
  while (low <= high) {
    const candidate = blockAt((low + high) >> 1n)
    if (holds(candidate.block)) {
      found = candidate
      low = candidate.lastVersion + 1n
    } else high = candidate.firstVersion - 1n
  }
  return found
}
